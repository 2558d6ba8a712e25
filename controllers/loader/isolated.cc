#include "loader/isolated.hh"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "common/cpu_time.hh"
#include "common/system_call.hh"

namespace kneepoint {

namespace {

constexpr rlim_t longest_cpu_s = 2;
constexpr std::chrono::milliseconds between_looks{50};

// The first byte of a child's output.
constexpr char returned = '+';
constexpr char threw = '-';

void write_all(int descriptor, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = write(descriptor, text.data() + done, text.size() - done);
    if (written < 0 and errno != EINTR) _exit(EXIT_FAILURE);
    if (written > 0) done += static_cast<size_t>(written);
  }
}

void limit(decltype(RLIMIT_CPU) what, rlim_t soft, rlim_t hard) {
  const rlimit limits{.rlim_cur = soft, .rlim_max = hard};
  setrlimit(what, &limits);
}

[[noreturn]] void run_child(int answers, const std::function<std::string()>& work) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU}) {
    signal(number, SIG_DFL);
  }
  limit(RLIMIT_CORE, 0, 0);
  limit(RLIMIT_CPU, longest_cpu_s, longest_cpu_s + 1);
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, stream);
  std::string answer;
  try {
    answer = returned + work();
  } catch (const std::exception& error) {
    answer = std::string(1, threw) + error.what();
  } catch (...) {
    answer = std::string(1, threw) + "it threw something that is no std::exception";
  }
  write_all(answers, answer);
  _exit(EXIT_SUCCESS);
}

// Whether the process neither computes, nor waits for a processor or a disk, nor is stopped. If its
// state is unknown, it counts as asleep.
bool is_asleep(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string stat;
  std::getline(file, stat);
  const size_t name_end = stat.rfind(')');
  return name_end == std::string::npos or stat.substr(name_end + 1).starts_with(" S");
}

// The child's whole output; nothing if the child sleeps too long, and is killed.
std::optional<std::string> listen(int answers, pid_t child,
                                  std::chrono::milliseconds longest_asleep) {
  std::chrono::milliseconds asleep{0};
  std::string said;
  while (true) {
    pollfd waited{.fd = answers, .events = POLLIN, .revents = 0};
    const int ready = poll(&waited, 1, static_cast<int>(between_looks.count()));
    if (ready < 0 and errno == EINTR) continue;
    if (ready == 0) {
      if (is_asleep(child)) asleep += between_looks;
      if (asleep < longest_asleep) continue;
      kill(child, SIGKILL);
      return std::nullopt;
    }
    std::array<char, 65536> buffer;
    const ssize_t bytes = read(answers, buffer.data(), buffer.size());
    if (bytes < 0 and errno == EINTR) continue;
    if (bytes <= 0) return said;
    said.append(buffer.data(), static_cast<size_t>(bytes));
  }
}

}  // namespace

std::string run_isolated(const std::string& what, const std::function<std::string()>& work,
                         std::chrono::milliseconds longest_asleep) {
  int ends[2];
  if (pipe(ends) != 0) fail("pipe");
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    close(ends[0]);
    run_child(ends[1], work);
  }
  close(ends[1]);
  const auto said = listen(ends[0], child, longest_asleep);
  close(ends[0]);
  int status = 0;
  rusage used{};
  while (wait4(child, &status, 0, &used) < 0 and errno == EINTR) {
  }
  if (not said) throw std::invalid_argument(what + " hangs");
  const bool ended = WIFEXITED(status) and not said->empty();
  if (ended and said->front() == returned) return said->substr(1);
  if (ended and said->front() == threw) throw std::invalid_argument(said->substr(1));
  if (not WIFSIGNALED(status)) {
    throw std::invalid_argument(what + " ends the program with status " +
                                std::to_string(WEXITSTATUS(status)));
  }
  const int number = WTERMSIG(status);
  if (ends_for_cpu_time(number, used, longest_cpu_s)) throw std::invalid_argument(what + " hangs");
  if (number == SIGKILL or number == SIGTERM or number == SIGHUP or number == SIGXCPU) {
    throw MachineFault(what + " was ended by signal " + std::to_string(number) +
                       ": by somebody else, or because memory was short");
  }
  throw std::invalid_argument(what + " crashes (" + name_of_signal(number) + ")");
}

}  // namespace kneepoint
