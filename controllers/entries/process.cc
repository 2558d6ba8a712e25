#include "entries/process.hh"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "common/cpu_time.hh"
#include "common/input_file.hh"
#include "common/sha256.hh"
#include "common/system_call.hh"
#include "common/text.hh"
#include "entries/dialect.hh"
#include "entries/messages.hh"
#include "entries/namespaces.hh"
#include "entries/sandbox.hh"

namespace kneepoint {

namespace {

constexpr uintmax_t max_object_bytes = 256'000'000;
constexpr uint64_t max_memory_mb = 1024;
constexpr size_t max_said = 4096;

[[noreturn]] void fault(const std::string& call) {
  throw MachineFault("an entry cannot be started: " + call + ": " + std::strerror(errno));
}

// The command of a new process, prepared before fork: between fork and exec nothing may allocate.
struct Command {
  std::string program;
  std::vector<std::string> words;
  std::vector<std::string> environment{};
};

struct Descriptors {  // -1: none
  int page;
  int socket;
  int orders;
  int reports;
  int errors;
};

// The flags of a pipe for whole messages, and of a pipe for text.
constexpr int of_messages = O_CLOEXEC | O_DIRECT;
constexpr int of_text = O_CLOEXEC;
std::array<int, 2> make_pipe(int flags) {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), flags) != 0) fault("pipe2");
  return ends;
}

void never_block(int descriptor) {
  if (fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) != 0) fault("fcntl");
}

// Without close_range(2), which came with Linux 5.9.
void close_others(bool has_socket, bool has_pipes) {
  const int listing = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const auto is_kept = [&](int descriptor) {
    return descriptor < EntryPage::socket_descriptor or descriptor == listing or
           (has_socket and descriptor == EntryPage::socket_descriptor) or
           (has_pipes and (descriptor == EntryMessages::reports_descriptor or
                           descriptor == EntryMessages::orders_descriptor));
  };
  alignas(dirent) std::array<char, 4096> content;
  while (true) {
    const auto bytes = syscall(SYS_getdents64, listing, content.data(), content.size());
    if (bytes < 0) _exit(EXIT_FAILURE);
    if (bytes == 0) break;
    for (ssize_t at = 0; at < bytes;) {
      const auto* const listed = reinterpret_cast<const dirent*>(content.data() + at);
      const int descriptor = std::atoi(listed->d_name);
      if (not is_kept(descriptor)) close(descriptor);
      at += listed->d_reclen;
    }
  }
  close(listing);
}

[[noreturn]] void become(const char* path, char* const* words, char* const* environment,
                         const Descriptors& given) {
  if (not end_with_parent(given.errors)) _exit(EXIT_FAILURE);
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setsid();
  prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);  // for the loader: CheapTurns's setting is inherited
  personality(ADDR_NO_RANDOMIZE);  // code that depends on addresses must not differ between runs
  const int nowhere = open("/dev/null", O_RDWR);
  // Moves descriptors away from the numbers that they will get.
  constexpr int out_of_the_way = 64;
  const int page = fcntl(given.page, F_DUPFD, out_of_the_way);
  const int socket = fcntl(given.socket, F_DUPFD, out_of_the_way);
  const int orders = fcntl(given.orders, F_DUPFD, out_of_the_way);
  const int reports = fcntl(given.reports, F_DUPFD, out_of_the_way);
  const int errors = fcntl(given.errors, F_DUPFD, out_of_the_way);
  dup2(nowhere, STDIN_FILENO);
  // In real time nobody reads the output while the entry runs, and a full pipe would refuse more.
  dup2(orders < 0 ? nowhere : errors, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  dup2(page, EntryPage::descriptor);
  dup2(socket, EntryPage::socket_descriptor);
  dup2(reports, EntryMessages::reports_descriptor);
  dup2(orders, EntryMessages::orders_descriptor);
  close_others(socket >= 0, orders >= 0);
  execve(path, words, environment);
  constexpr std::string_view lost = "its program is missing: make build";
  if (write(STDERR_FILENO, lost.data(), lost.size()) < 0) _exit(EXIT_FAILURE);
  _exit(EXIT_FAILURE);
}

EntryEnd explain(int status, const rusage& used, int32_t denied_call, uint64_t cpu_s) {
  if (denied_call >= 0) {
    return {"the sender " + named_call(denied_call), false};
  }
  constexpr int aborted = 128 + SIGABRT;  // by which the process reports that it has called abort()
  if (WIFEXITED(status) and WEXITSTATUS(status) == aborted) {
    return {"the sender was ended by SIGABRT", false};
  }
  const bool is_spent = WIFEXITED(status) ? WEXITSTATUS(status) == exit_status_at_cpu_limit
                                          : ends_for_cpu_time(WTERMSIG(status), used, cpu_s);
  if (is_spent) {
    std::ostringstream used_s;
    used_s.precision(3);
    used_s << cpu_time_s(used);
    return {"the sender used more than " + std::to_string(cpu_s) + " s of CPU time (" +
                used_s.str() +
                " s), its limit in a run: end its endless loop, compute or print less for each "
                "acknowledgment, or have the limit raised (cpu_s)",
            false};
  }
  if (WIFEXITED(status)) {
    return {"the sender ended by itself, with exit status " + std::to_string(WEXITSTATUS(status)),
            false};
  }
  const int number = WTERMSIG(status);
  const std::string reason = "the sender was ended by " + name_of_signal(number);
  for (const int crash : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP, SIGXFSZ}) {
    if (number == crash) return {reason, false};
  }
  return {reason + ", which entries cannot send: by somebody else, or because memory was short",
          true};
}

// As execve(2) takes them.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

void check_entry(const EntrySettings& settings, bool is_trusted) {
  const std::string content = read_file(settings.object, "entry", max_object_bytes);
  const std::string digest = settings.sha256.empty() ? "" : sha256(content);
  if (digest != settings.sha256) {
    throw std::invalid_argument("entry " + settings.object.string() + " has SHA-256 " + digest +
                                ", not " + settings.sha256 + "; it was built again: start again");
  }
  for (const auto& [name, wanted] : settings.files) {
    const std::string found =
        sha256(read_file(settings.place_of(wanted), "entry's file", max_object_bytes));
    if (found != wanted) {
      throw std::invalid_argument("an entry's file " + name + " has SHA-256 " + found + ", not " +
                                  wanted + "; build the entry again");
    }
  }
  if (is_trusted) return;
  if (const std::string& why = why_no_namespaces(); settings.is_python() and not why.empty()) {
    throw std::invalid_argument(
        "entries in Python are confined only in namespaces, which this host refuses (" + why +
        "): allow users to create them, use another host, or trust the entries (--trust-entries)");
  }
  try {
    require_sandbox();
  } catch (const SandboxError& error) {
    throw std::invalid_argument(std::string(error.what()) +
                                ": use another host, or trust the entries (--trust-entries)");
  }
}

// The command that starts an entry: the program, the object and its limits, its environment, and
// the sender's own words. An interpreter preloads the library that confines it.
Command command_for(const EntrySettings& settings, const EntryStart& start) {
  const auto here = program_folder();
  Command command;
  std::vector<std::string>& words = command.words;
  if (settings.is_python()) {
    std::error_code error;
    // The interpreter finds its library by its real path.
    command.program = std::filesystem::canonical(settings.interpreter, error);
    if (error) {
      throw std::invalid_argument("interpreter " + settings.interpreter.string() + ": " +
                                  error.message() + "; name one of Python 3.11 or later");
    }
    // Isolated from the user's settings and packages, and nothing is written beside a module.
    words = {command.program, "-I", "-S", "-B", here / "python_sender.py"};
    const char* const library = start.socket ? "python_entry_real.so" : "python_entry.so";
    command.environment.push_back("LD_PRELOAD=" + (here / library).string());
  } else if (start.socket) {
    // This program, whatever it is called: a run has a copy of its own.
    command.program = std::filesystem::read_symlink("/proc/self/exe");
    words = {"entry", "--inside"};
  } else {
    command.program = here / "entry";
    words = {"entry"};
  }
  // With rseq, the kernel would reveal the processor's number and every interruption.
  if (not start.socket) command.environment.push_back("GLIBC_TUNABLES=glibc.pthread.rseq=0");
  words.insert(words.end(), {std::filesystem::absolute(settings.object),
                             start.is_trusted ? "trusted" : "confined", std::to_string(start.cpu_s),
                             std::to_string(max_memory_mb)});
  for (const auto& [name, value] : settings.environment) words.push_back(name + "=" + value);
  for (const auto& [name, digest] : settings.files) {  // no variable begins like this
    words.push_back("=" + name + "=" +
                    std::filesystem::absolute(settings.place_of(digest)).string());
  }
  words.insert(words.end(), {"--", start.host, start.port});
  words.insert(words.end(), settings.arguments.begin(), settings.arguments.end());
  return command;
}

}  // namespace

EntryWorker::EntryWorker(const EntrySettings& settings, const EntryStart& start)
    : cpu_s_(start.cpu_s) {
  check_entry(settings, start.is_trusted);
  Command command = command_for(settings, start);
  const int page = memfd_create("entry", MFD_CLOEXEC);
  if (page < 0) fault("memfd_create");
  if (ftruncate(page, sizeof(EntryPage)) != 0) fault("ftruncate");
  void* const place = mmap(nullptr, sizeof(EntryPage), PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
  if (place == MAP_FAILED) fault("mmap");
  page_ = new (place) EntryPage{};
  page_->denied_call = -1;
  if (start.socket) page_->datagram_bytes = find_dialect(settings.dialect).datagram_bytes;
  const std::array<int, 2> text = make_pipe(of_text);
  errors_ = text[0];
  never_block(errors_);
  std::array<int, 2> reports{-1, -1};
  if (start.socket) {
    never_block(text[1]);  // a reader must not delay the entry in real time
  } else {
    constexpr int max_unread_bytes = 1 << 20;
    fcntl(errors_, F_SETPIPE_SZ, max_unread_bytes);  // if the user may
    orders_ = make_pipe(of_messages);
    never_block(orders());
    reports = make_pipe(of_messages);
    reports_ = reports[0];
  }
  std::vector<char*> words = pointers_to(command.words);
  std::vector<char*> environment = pointers_to(command.environment);
  process_ = start.is_trusted or not why_no_namespaces().empty() ? fork() : fork_into_namespaces();
  if (process_ == 0) {
    close(errors_);
    become(command.program.c_str(), words.data(), environment.data(),
           {.page = page,
            .socket = start.socket.value_or(-1),
            .orders = orders_[0],
            .reports = reports[1],
            .errors = text[1]});
  }
  const int error = errno;
  for (const int each : {page, text[1], reports[1]}) {
    if (each >= 0) close(each);
  }
  errno = error;
  if (process_ < 0) fault("fork");
}

EntryWorker::~EntryWorker() {
  stop();
  for (const int each : {errors_, reports_, orders_[0], orders_[1]}) {
    if (each >= 0) close(each);
  }
  if (page_ != nullptr) munmap(page_, sizeof(EntryPage));
}

void EntryWorker::stop() {
  if (process_ <= 0) return;
  kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 and errno == EINTR) {
  }
  process_ = -1;
}

std::optional<EntryEnd> EntryWorker::end() {
  int status = 0;
  rusage used{};
  if (wait4(process_, &status, WNOHANG, &used) != process_) return std::nullopt;
  process_ = -1;
  EntryEnd end = explain(status, used, page_->denied_call, cpu_s_);
  if (const std::string words = last_words(); not words.empty()) {
    end.reason += "; its last words: " + words;
  }
  return end;
}

char EntryWorker::state() const {
  std::ifstream file("/proc/" + std::to_string(process_) + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos or name_end + 2 >= text.size()) return ' ';
  return text[name_end + 2];
}

bool EntryWorker::reports(std::chrono::microseconds limit, bool or_prints) const {
  constexpr int64_t second_us = 1'000'000;
  const timespec span{.tv_sec = limit.count() / second_us,
                      .tv_nsec = limit.count() % second_us * 1000};
  pollfd ends[]{{.fd = reports_, .events = POLLIN, .revents = 0},
                {.fd = errors_, .events = POLLIN, .revents = 0}};
  ppoll(ends, or_prints ? 2 : 1, &span, nullptr);
  if ((ends[0].revents & POLLIN) != 0) return true;
  constexpr useconds_t until_it_has_ended_us = 100;
  if ((ends[0].revents & POLLHUP) != 0) usleep(until_it_has_ended_us);
  return false;
}

EntryWorker::Words EntryWorker::read_words() {
  std::array<char, 65536> buffer;
  const int room = fcntl(errors_, F_GETPIPE_SZ);
  ssize_t all = 0;
  for (ssize_t bytes; all < room and (bytes = read(errors_, buffer.data(), buffer.size())) > 0;) {
    said_.append(buffer.data(), static_cast<size_t>(bytes));
    if (said_.size() > max_said) said_.erase(0, said_.size() - max_said);
    all += bytes;
  }
  return all == 0 ? Words::none : all < room / 2 ? Words::some : Words::filled;
}

std::string EntryWorker::last_words() {
  read_words();
  std::string_view line = said_;
  while (line.ends_with('\n')) line.remove_suffix(1);
  const size_t begin = line.rfind('\n');
  if (begin != std::string_view::npos) line.remove_prefix(begin + 1);
  return one_line(std::string(line).c_str());
}

}  // namespace kneepoint
