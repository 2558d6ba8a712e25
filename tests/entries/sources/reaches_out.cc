// A command that tries to reach outside its sandbox: the process VICTIM, and objects that outlive
// the command. It prints a line for each attempt that no filter refuses. An attempt that succeeds
// changes only the victim; attempts that could affect other processes name a user or a place that
// does not exist.
#include <fcntl.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

namespace {

pid_t victim = 0;

constexpr int nobody = 4'000'000;

// Whether the call reaches the kernel, whatever the kernel answers.
bool works(long call, auto... arguments) {
  return syscall(call, arguments...) >= 0 or errno != EPERM;
}

bool copies_memory(long call) {
  char byte = 0;
  iovec mine{&byte, 1};
  iovec theirs{reinterpret_cast<void*>(0x400000), 1};
  return works(call, victim, &mine, 1, &theirs, 1, 0);
}

// Removes the object that it has made.
bool makes(long call, long control, auto... arguments) {
  const long made = syscall(call, arguments...);
  if (made < 0) return errno != EPERM;
  if (control == SYS_semctl) return syscall(control, made, 0, IPC_RMID) == 0;
  return syscall(control, made, IPC_RMID, nullptr) == 0;
}

bool sets_scheduler() {
  sched_param parameters{};
  return works(SYS_sched_setscheduler, victim, SCHED_BATCH, &parameters);
}

bool sets_affinity() {
  unsigned long first = 1;
  return works(SYS_sched_setaffinity, victim, sizeof first, &first);
}

bool sets_attributes() {
  struct {
    uint32_t size = 48, policy = SCHED_BATCH;
    uint64_t flags = 0;
    int32_t nice = 19;
    uint32_t priority = 0;
    uint64_t times[3]{};
  } attributes;
  return works(SYS_sched_setattr, victim, &attributes, 0);
}

bool connects() {
  const int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = std::string(1, '\0') + getenv("ABSTRACT");
  name.copy(address.sun_path, sizeof address.sun_path);
  const auto bytes = static_cast<socklen_t>(sizeof address.sun_family + name.size());
  return connect(descriptor, reinterpret_cast<sockaddr*>(&address), bytes) == 0;
}

const std::map<std::string, std::function<bool()>> attempts{
    {"prlimit64",
     [] {
       const rlimit limits{1, 1};
       return works(SYS_prlimit64, victim, RLIMIT_CPU, &limits, nullptr);
     }},
    {"setpriority of a process", [] { return works(SYS_setpriority, PRIO_PROCESS, victim, 19); }},
    {"setpriority of a group", [] { return works(SYS_setpriority, PRIO_PGRP, nobody, 19); }},
    {"setpriority of a user", [] { return works(SYS_setpriority, PRIO_USER, nobody, 19); }},
    {"ioprio_set of a process",
     [] { return works(SYS_ioprio_set, IOPRIO_WHO_PROCESS, victim, 3 << 13); }},
    {"ioprio_set of a user",
     [] { return works(SYS_ioprio_set, IOPRIO_WHO_USER, nobody, 3 << 13); }},
    {"sched_setaffinity", sets_affinity},
    {"sched_setscheduler", sets_scheduler},
    {"sched_setattr", sets_attributes},
    {"kill", [] { return syscall(SYS_kill, victim, SIGTERM) == 0; }},
    {"kill without a signal", [] { return syscall(SYS_kill, victim, 0) == 0; }},
    {"tkill", [] { return syscall(SYS_tkill, victim, SIGTERM) == 0; }},
    {"tgkill", [] { return syscall(SYS_tgkill, victim, victim, SIGTERM) == 0; }},
    {"rt_sigqueueinfo",
     [] {
       siginfo_t information{};
       information.si_code = SI_QUEUE;
       return syscall(SYS_rt_sigqueueinfo, victim, SIGTERM, &information) == 0;
     }},
    {"pidfd_open", [] { return works(SYS_pidfd_open, victim, 0); }},
    {"ptrace", [] { return works(SYS_ptrace, PTRACE_SEIZE, victim, nullptr, nullptr); }},
    {"process_vm_readv", [] { return copies_memory(SYS_process_vm_readv); }},
    {"process_vm_writev", [] { return copies_memory(SYS_process_vm_writev); }},
    {"move_pages", [] { return works(SYS_move_pages, victim, 0, nullptr, nullptr, nullptr, 0); }},
    {"migrate_pages",
     [] {
       unsigned long node = 1;
       return works(SYS_migrate_pages, victim, 2, &node, &node);
     }},
    {"kcmp", [] { return works(SYS_kcmp, victim, victim, 2, 0, 0); }},
    {"shared memory", [] { return makes(SYS_shmget, SYS_shmctl, IPC_PRIVATE, 4096, 0600); }},
    {"semaphores", [] { return makes(SYS_semget, SYS_semctl, IPC_PRIVATE, 1, 0600); }},
    {"messages", [] { return makes(SYS_msgget, SYS_msgctl, IPC_PRIVATE, 0600); }},
    {"message queue", [] { return works(SYS_mq_open, "none-such", O_RDONLY, 0, nullptr); }},
    {"unshare", [] { return works(SYS_unshare, 0x10000000); }},
    {"clone into namespaces",
     [] {
       const long child = syscall(SYS_clone, 0x10000000 | SIGCHLD, 0, 0, 0, 0);
       if (child == 0) _exit(0);
       return child > 0;
     }},
    {"mount", [] { return works(SYS_mount, "none", "/none-such", "tmpfs", 0, nullptr); }},
    {"open_tree", [] { return works(SYS_open_tree, AT_FDCWD, "/none-such", 0); }},
    {"sethostname", [] { return works(SYS_sethostname, "", -1); }},
    {"abstract socket", connects},
};

}  // namespace

int main(int, char* words[]) {
  victim = std::atoi(words[1]);
  for (const auto& [name, attempt] : attempts) {
    if (attempt()) std::printf("%s\n", name.c_str());
  }
}
