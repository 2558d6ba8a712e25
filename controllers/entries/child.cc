#include "entries/child.hh"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/input_file.hh"
#include "common/machine_fault.hh"
#include "common/sha256.hh"
#include "common/text.hh"
#include "entries/sandbox.hh"
#include "loader/handle.hh"

namespace kneepoint {

namespace {

constexpr int page_descriptor = 3;  // where the program `entry` expects it
constexpr uintmax_t most_object_bytes = 256'000'000;
constexpr uint64_t most_memory_mb = 1024;
constexpr const char* trust = "; or trust the entries (--trust-entries)";
constexpr int check_ms = 20;
constexpr int most_idle_checks = 100;
constexpr uint64_t turns_between_readings = 256;
constexpr size_t most_said = 4096;

[[noreturn]] void fault(const std::string& call) {
  throw MachineFault("an entry cannot be started: " + call + ": " + std::strerror(errno));
}

std::string program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "entry";
}

cpu_set_t& processors_before() {
  static cpu_set_t set;
  return set;
}

int& children() {
  static int count = 0;
  return count;
}

void check_digest(const EntrySettings& settings) {
  const std::string what = "entry";
  const std::string content = read_file(settings.object, what, most_object_bytes);
  if (settings.sha256.empty()) return;
  const std::string digest = sha256(content);
  if (digest != settings.sha256) {
    throw std::invalid_argument(what + " " + settings.object.string() + " has SHA-256 " + digest +
                                ", not " + settings.sha256 + "; it was built again: start again");
  }
}

std::vector<std::string> words_for(const EntrySettings& settings, bool is_trusted, uint64_t cpu_s) {
  std::vector<std::string> words{"entry", std::filesystem::absolute(settings.object),
                                 is_trusted ? "trusted" : "confined", std::to_string(cpu_s),
                                 std::to_string(most_memory_mb)};
  for (const auto& [name, value] : settings.environment) words.push_back(name + "=" + value);
  words.insert(words.end(), {"--", "100.64.0.2", "9090"});
  words.insert(words.end(), settings.arguments.begin(), settings.arguments.end());
  return words;
}

// Between fork and exec, so that nothing here may allocate.
[[noreturn]] void become(const char* path, char* const* words, int page, int errors, pid_t parent) {
  char* const no_environment[]{nullptr};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE);
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setsid();
  personality(ADDR_NO_RANDOMIZE);  // or what depends on addresses differs between runs
  const int nowhere = open("/dev/null", O_RDWR);
  // Out of the way of the numbers that they get.
  const int high_page = fcntl(page, F_DUPFD, 64);
  const int high_errors = fcntl(errors, F_DUPFD, 64);
  dup2(nowhere, STDIN_FILENO);
  dup2(nowhere, STDOUT_FILENO);
  dup2(high_errors, STDERR_FILENO);
  dup2(high_page, page_descriptor);
  close_range(page_descriptor + 1, ~0U, 0);
  execve(path, words, no_environment);
  constexpr std::string_view lost = "the program entry is missing: make build";
  if (write(STDERR_FILENO, lost.data(), lost.size()) < 0) _exit(EXIT_FAILURE);
  _exit(EXIT_FAILURE);
}

std::string name_of(int number) {
  const char* const name = sigabbrev_np(number);
  return name == nullptr ? "signal " + std::to_string(number) : "SIG" + std::string(name);
}

struct Activity {
  bool is_asleep = false;
  uint64_t cpu_ticks = 0;
};

Activity activity_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  const std::vector<std::string> fields = split(text.substr(name_end + 2), ' ');
  constexpr size_t user_ticks = 11;
  if (fields.size() < user_ticks + 2) return {};
  return {fields[0] == "S" or fields[0] == "D",
          std::stoull(fields[user_ticks]) + std::stoull(fields[user_ticks + 1])};
}

}  // namespace

OneProcessor::OneProcessor() {
  if (children()++ > 0) return;
  sched_getaffinity(0, sizeof(cpu_set_t), &processors_before());
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &here);
  sched_setaffinity(0, sizeof here, &here);
}

OneProcessor::~OneProcessor() {
  if (--children() == 0) sched_setaffinity(0, sizeof(cpu_set_t), &processors_before());
}

EntryChild::EntryChild(const EntrySettings& settings, bool is_trusted, uint64_t cpu_s)
    : cpu_s_(cpu_s) {
  check_digest(settings);
  if (not is_trusted) {
    try {
      require_sandbox();
    } catch (const SandboxError& error) {
      throw std::invalid_argument(std::string(error.what()) + ": use another" + trust);
    }
  }
  start(settings, is_trusted);
  take_turn();
  is_confined_ = true;
}

void EntryChild::start(const EntrySettings& settings, bool is_trusted) {
  const int page = memfd_create("entry", MFD_CLOEXEC);
  if (page < 0) fault("memfd_create");
  if (ftruncate(page, sizeof(EntryPage)) != 0) fault("ftruncate");
  void* const place = mmap(nullptr, sizeof(EntryPage), PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
  if (place == MAP_FAILED) fault("mmap");
  page_ = new (place) EntryPage{};
  page_->denied_call = -1;
  int ends[2];
  // Whoever prints for ever must not wait for a reader.
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) fault("pipe2");
  const std::string path = program();
  std::vector<std::string> words = words_for(settings, is_trusted, cpu_s_);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ == 0) become(path.c_str(), pointers.data(), page, ends[1], parent);
  const int error = errno;
  close(page);
  close(ends[1]);
  errors_ = ends[0];
  errno = error;
  if (process_ < 0) fault("fork");
}

EntryChild::~EntryChild() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 and errno == EINTR) {
    }
  }
  if (errors_ >= 0) close(errors_);
  if (page_ != nullptr) munmap(page_, sizeof(EntryPage));
}

void EntryChild::take_turn() {
  if (++turns_ % turns_between_readings == 0) last_words();
  give_turn(*page_, EntryPage::entrys);
  idle_checks_ = 0;
  while (not await_turn(*page_, EntryPage::emulators, check_ms)) check_alive();
}

void EntryChild::check_alive() {
  int status = 0;
  const pid_t ended = waitpid(process_, &status, WNOHANG);
  if (ended == process_) {
    process_ = -1;
    explain(status);
  }
  idle_checks_ = activity_of(process_).is_asleep ? idle_checks_ + 1 : 0;
  if (idle_checks_ < most_idle_checks) return;
  throw ControllerFailure("the sender waits for what never comes: it sleeps, and not in poll");
}

void EntryChild::explain(int status) {
  const std::string words = last_words();
  if (not is_confined_) throw MachineFault("an entry cannot be started: " + words);
  const std::string said = words.empty() ? "" : "; its last words: " + words;
  const int32_t denied = page_->denied_call;
  if (denied >= 0) {
    throw ControllerFailure("the sender made the system call " + name_of_call(denied) +
                            ", which entries may not" + said);
  }
  if (WIFEXITED(status)) {
    throw ControllerFailure("the sender ended by itself, with exit status " +
                            std::to_string(WEXITSTATUS(status)) + said);
  }
  const int number = WTERMSIG(status);
  if (number == SIGXCPU or number == SIGKILL) {
    throw ControllerFailure("the sender used more than " + std::to_string(cpu_s_) +
                            " s of CPU time" + said);
  }
  throw ControllerFailure("the sender was ended by " + name_of(number) + said);
}

// The last line of what it has written to stderr.
std::string EntryChild::last_words() {
  std::array<char, 65536> buffer;
  for (ssize_t bytes; (bytes = read(errors_, buffer.data(), buffer.size())) > 0;) {
    said_.append(buffer.data(), static_cast<size_t>(bytes));
  }
  if (said_.size() > most_said) said_.erase(0, said_.size() - most_said);
  std::string_view line = said_;
  while (line.ends_with('\n')) line.remove_suffix(1);
  const size_t begin = line.rfind('\n');
  if (begin != std::string_view::npos) line.remove_prefix(begin + 1);
  return one_line(std::string(line).c_str());
}

}  // namespace kneepoint
