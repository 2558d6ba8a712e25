#include "entries/confined_command.hh"

#include <linux/ioprio.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>

#include "common/cpu_time.hh"
#include "common/system_call.hh"
#include "entries/namespaces.hh"
#include "realtime/stop_signal.hh"

namespace kneepoint {

namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t megabyte = 1'000'000;
constexpr int tick_ms = 50;
// Seconds of wall-clock time for each second of CPU time: on a busy machine a command gets little
// CPU time.
constexpr double patience = 30;
constexpr int exit_not_started = 127;

bool has_namespaces() { return why_no_namespaces().empty(); }

// A byte with room for a descriptor beside it.
struct DescriptorMessage {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
  msghdr message{};

  DescriptorMessage() {
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
};

void send_descriptor(int channel, int descriptor) {
  DescriptorMessage sent;
  cmsghdr* const header = CMSG_FIRSTHDR(&sent.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  sendmsg(channel, &sent.message, 0);
}

// -1 if the other end sends none.
int receive_descriptor(int channel) {
  DescriptorMessage received;
  if (recvmsg(channel, &received.message, MSG_CMSG_CLOEXEC) <= 0) return -1;
  int descriptor = -1;
  const cmsghdr* const header = CMSG_FIRSTHDR(&received.message);
  if (header != nullptr) std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return descriptor;
}

// Process 0 is the caller.
void allow_on_oneself(CallFilter& filter, long call,
                      const std::vector<CallFilter::Argument>& oneself) {
  filter.rule(call, CallFilter::allow, oneself);
  filter.rule(call, CallFilter::refuse(EPERM));
}

// A process must ask before a call that starts another process; calls that a build never needs are
// refused.
int enter_filter(bool has_network, bool keeps_signals) {
  constexpr auto refuse = CallFilter::refuse(EPERM);
  CallFilter filter(CallFilter::allow);
  filter.rule(SYS_clone, CallFilter::notify);
  filter.rule(SYS_clone3, CallFilter::refuse(ENOSYS));  // a filter cannot see its flags
#ifdef SYS_fork
  filter.rules({SYS_fork, SYS_vfork}, CallFilter::notify);
#endif
  // System calls for other processes and their memory.
  filter.rules({SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_process_madvise,
                SYS_process_mrelease, SYS_move_pages, SYS_migrate_pages, SYS_kcmp, SYS_pidfd_open,
                SYS_pidfd_getfd, SYS_pidfd_send_signal},
               refuse);
  // Memory and messages that outlive a process.
  filter.rules(
      {SYS_shmget, SYS_shmat, SYS_shmctl, SYS_semget, SYS_semop, SYS_semtimedop, SYS_semctl,
       SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_mq_open, SYS_mq_unlink},
      refuse);
  // System calls for other file systems and namespaces.
  filter.rules(
      {SYS_mount, SYS_umount2, SYS_open_tree, SYS_move_mount, SYS_mount_setattr, SYS_fsopen,
       SYS_fspick, SYS_pivot_root, SYS_chroot, SYS_setns, SYS_unshare, SYS_open_by_handle_at},
      refuse);
  // Parts of the kernel that few programs use, and its filters.
  filter.rules({SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key,
                SYS_request_key, SYS_io_uring_setup, SYS_seccomp},
               refuse);
  // The machine.
  filter.rules({SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot,
                SYS_swapon, SYS_swapoff, SYS_acct, SYS_quotactl, SYS_sethostname, SYS_setdomainname,
                SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime},
               refuse);
  constexpr uint64_t as_int = 0xffffffff;
  for (const long call : {SYS_prlimit64, SYS_sched_setaffinity, SYS_sched_setscheduler,
                          SYS_sched_setparam, SYS_sched_setattr}) {
    allow_on_oneself(filter, call, {{0, as_int, 0}});
  }
  allow_on_oneself(filter, SYS_setpriority, {{0, as_int, PRIO_PROCESS}, {1, as_int, 0}});
  allow_on_oneself(filter, SYS_ioprio_set, {{0, as_int, IOPRIO_WHO_PROCESS}, {1, as_int, 0}});
  filter.rule(SYS_ioctl, refuse, {{1, as_int, TIOCSTI}});
  if (not has_network) filter.rule(SYS_socket, refuse);
  if (not keeps_signals) {
    filter.rules({SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo},
                 refuse);
  }
  return filter.enter(true);
}

[[noreturn]] void become(const Confinement& confinement, const Files& files,
                         const std::vector<std::string>& command, int channel) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  try {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid();
    constexpr uint64_t max_descriptors = 1024;
    set_limits({.cpu_s = confinement.cpu_s,
                .memory_mb = confinement.memory_mb,
                .file_mb = confinement.file_mb,
                .descriptors = max_descriptors});
    drop_privileges();
    const bool keeps_signals = allow_only(files) or has_namespaces();
    send_descriptor(channel, enter_filter(confinement.has_network, keeps_signals));
    execvp(words[0], words.data());
    dprintf(STDERR_FILENO, "%s: %s\n", words[0], std::strerror(errno));
  } catch (const std::exception& error) {
    dprintf(STDERR_FILENO, "%s\n", error.what());
    send(channel, "", 1, 0);  // instead of the descriptor
  }
  _exit(exit_not_started);
}

// The first process of the command's namespaces: when it ends, all others end. It waits for the
// command, and reports how the command ended.
[[noreturn]] void host(const Confinement& confinement, const std::vector<std::string>& command,
                       const int* ends) {
  close(ends[0]);
  const int channel = ends[1];
  if (not end_with_parent(channel)) _exit(exit_not_started);
  Files files = confinement.files;
  files.readable.insert(files.readable.end(), {"/dev/zero", "/dev/urandom"});
  files.writable.push_back("/dev/null");
  try {
    if (has_namespaces()) show_only(files);
  } catch (const std::exception& error) {
    dprintf(STDERR_FILENO, "%s\n", error.what());
    _exit(exit_not_started);
  }
  const pid_t process = fork();
  if (process == 0) become(confinement, files, command, channel);
  if (process < 0) _exit(exit_not_started);
  int status = 0;
  while (waitpid(-1, &status, 0) != process) {
  }
  _exit(send(channel, &status, sizeof status, MSG_NOSIGNAL) < 0 ? exit_not_started : 0);
}

// Answers a call that starts a process; returns false if there have been too many.
bool answer(int listener, uint64_t& started, uint64_t max) {
  seccomp_notif call{};
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0)
    return true;  // the process ended meanwhile
  constexpr uint64_t namespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                                  CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
  const bool makes_namespace = call.data.nr == SYS_clone and (call.data.args[0] & namespaces) != 0;
  const bool is_too_many = not makes_namespace and ++started > max;
  seccomp_notif_resp response{};
  response.id = call.id;
  if (makes_namespace or is_too_many) {
    response.error = makes_namespace ? -EPERM : -EAGAIN;
  } else {
    response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  }
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
  return not is_too_many;
}

uint64_t bytes_in(const std::vector<std::string>& folders) {
  uint64_t bytes = 0;
  for (const std::string& folder : folders) {
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator each(folder, error), end;
         not error and each != end; each.increment(error)) {
      std::error_code lost;
      const uint64_t size = each->is_regular_file(lost) ? each->file_size(lost) : 0;
      if (not lost) bytes += size;
    }
  }
  return bytes;
}

struct Process {
  pid_t parent = 0;
  double cpu_s = 0;  // includes children that have ended
};

std::map<pid_t, Process> all_processes() {
  std::map<pid_t, Process> found;
  const auto ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    pid_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc{} or *end != '\0') continue;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    const size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) continue;
    std::istringstream words(text.substr(name_end + 1));
    constexpr int between = 9;  // parent and times; proc_pid_stat(5)
    std::string other;
    Process process;
    words >> other >> process.parent;
    for (int i = 0; i < between; ++i) words >> other;
    for (double ticks : {0., 0., 0., 0.}) {  // user, system; of children: user, system
      if (words >> ticks) process.cpu_s += ticks / ticks_per_s;
    }
    found[number] = process;
  }
  return found;
}

// The CPU time of a process and its descendants.
double cpu_time_of_tree(pid_t root) {
  const std::map<pid_t, Process> processes = all_processes();
  double cpu_s = 0;
  for (const auto& [number, process] : processes) {
    pid_t ancestor = number;
    for (size_t i = 0; i < processes.size() and ancestor != root;
         ++i) {  // process numbers are reused
      const auto found = processes.find(ancestor);
      if (found == processes.end()) break;
      ancestor = found->second.parent;
    }
    if (ancestor == root) cpu_s += process.cpu_s;
  }
  return cpu_s;
}

// Orphans are reparented to this process: when a process is killed, its children become this
// process's children.
void kill_children() {
  while (true) {
    for (const auto& [number, process] : all_processes()) {
      if (process.parent == getpid()) kill(number, SIGKILL);
    }
    pid_t reaped;
    while ((reaped = waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (reaped < 0 and errno == ECHILD) return;
    usleep(1000);
  }
}

std::string explain_signal(int number, const rusage& used, const Confinement& confinement) {
  if (ends_for_cpu_time(number, used, confinement.cpu_s)) {
    return "more than " + std::to_string(confinement.cpu_s) + " s of CPU time";
  }
  if (number == SIGXFSZ)
    return "a file of more than " + std::to_string(confinement.file_mb) + " MB";
  return "";
}

std::string explain_wait(uint64_t wall_s, double cpu_s) {
  const std::string waited = "more than " + std::to_string(wall_s) + " s";
  const auto whole_s = static_cast<uint64_t>(cpu_s);
  return whole_s == 0 ? waited : waited + " for " + std::to_string(whole_s) + " s of CPU time";
}

CommandEnd explain(int status, const rusage& used, const Confinement& confinement) {
  constexpr int of_signal = 128;  // as a shell reports that a signal ended a child
  if (WIFEXITED(status)) {
    const int code = WEXITSTATUS(status);
    return {code, code > of_signal ? explain_signal(code - of_signal, used, confinement) : ""};
  }
  const int number = WTERMSIG(status);
  const std::string reason = explain_signal(number, used, confinement);
  return {of_signal + number,
          reason.empty() ? "ended by signal " + std::to_string(number) : reason};
}

// Waits for the command's end, or for a reason to end it.
CommandEnd supervise(const Confinement& confinement, pid_t host, int channel, int listener) {
  const auto start = Clock::now();
  auto end = start + std::chrono::seconds(confinement.wall_s);
  const uint64_t before = bytes_in(confinement.files.writable);
  uint64_t started = 1;
  while (true) {
    int status = 0;
    rusage used{};  // includes the command and its children
    if (wait4(host, &status, WNOHANG, &used) == host) {
      int commands = 0;  // no status comes if the host itself was ended
      const auto bytes = recv(channel, &commands, sizeof commands, MSG_DONTWAIT);
      return explain(bytes == sizeof commands ? commands : status, used, confinement);
    }
    if (stop_requested()) return {128 + SIGTERM, "asked to stop"};
    if (Clock::now() >= end) {
      const double cpu_s = cpu_time_of_tree(host);
      const double counted_s = std::min(cpu_s, static_cast<double>(confinement.cpu_s));
      const auto max_s = confinement.wall_s + static_cast<uint64_t>(patience * counted_s);
      end = start + std::chrono::seconds(max_s);
      if (Clock::now() >= end) return {128 + SIGKILL, explain_wait(max_s, cpu_s)};
    }
    if (bytes_in(confinement.files.writable) > before + confinement.file_mb * megabyte) {
      return {128 + SIGXFSZ, "wrote more than " + std::to_string(confinement.file_mb) + " MB"};
    }
    pollfd waits{.fd = listener, .events = POLLIN, .revents = 0};
    const auto tick_ends = Clock::now() + std::chrono::milliseconds(tick_ms);
    while (Clock::now() < tick_ends and poll(&waits, 1, tick_ms) > 0) {
      if ((waits.revents & POLLIN) == 0) {  // all processes have ended
        usleep(1000);
        break;
      }
      if (not answer(listener, started, confinement.processes)) {
        return {128 + SIGKILL, "more than " + std::to_string(confinement.processes) + " processes"};
      }
    }
  }
}

}  // namespace

CommandEnd run_confined(const Confinement& confinement, const std::vector<std::string>& command) {
  require_sandbox();
  catch_stop_signals();
  if (confinement.ends_with_parent) stop_with_parent();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) fail("socketpair");
  const pid_t process = has_namespaces() ? fork_into_namespaces(confinement.has_network) : fork();
  if (process < 0) fail("fork");
  if (process == 0) host(confinement, command, ends);
  close(ends[1]);
  const int listener = receive_descriptor(ends[0]);
  const CommandEnd end = supervise(confinement, process, ends[0], listener);
  close(ends[0]);
  if (listener >= 0) close(listener);  // no process can be started any more
  kill_children();
  return end;
}

}  // namespace kneepoint
