#include "entries/namespaces.hh"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>

namespace kneepoint {

namespace {

// The new root is assembled here, in a folder that every Linux has.
const std::string workplace = "/proc";

using Map = std::array<char, 32>;

// The attributes of mount_setattr(2), which some libraries' headers lack.
struct MountAttributes {
  uint64_t set;
  uint64_t cleared = 0;
  uint64_t propagation = 0;
  uint64_t user_namespace = 0;
};
constexpr uint64_t read_only = 1;
constexpr uint64_t no_set_user_id = 2;
constexpr uint64_t no_devices = 4;

// Nothing here may allocate.
bool write_all(const char* file, const char* text) {
  const int descriptor = static_cast<int>(syscall(SYS_openat, AT_FDCWD, file, O_WRONLY));
  const size_t bytes = std::strlen(text);
  const bool is_written =
      descriptor >= 0 and write(descriptor, text, bytes) == static_cast<ssize_t>(bytes);
  const int error = errno;
  if (descriptor >= 0) syscall(SYS_close, descriptor);
  errno = error;
  return is_written;
}

Map only_root_is(unsigned id) {
  Map map;
  std::snprintf(map.data(), map.size(), "0 %u 1", id);
  return map;
}

void restrict_mount(const std::string& place, int flags, uint64_t attributes) {
  const MountAttributes all{.set = attributes};
  if (syscall(SYS_mount_setattr, AT_FDCWD, place.c_str(), flags, &all, sizeof all) != 0) {
    refuse_sandbox("mount_setattr " + place);
  }
}

void show(const std::filesystem::path& source, bool is_writable) {
  struct stat state{};
  if (stat(source.c_str(), &state) != 0) return;
  const std::filesystem::path target = workplace + source.string();
  std::filesystem::create_directories(S_ISDIR(state.st_mode) ? target : target.parent_path());
  if (not S_ISDIR(state.st_mode)) mknod(target.c_str(), S_IFREG | 0444, 0);
  if (mount(source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    refuse_sandbox("mount " + source.string());
  }
  // On a read-only mount, access times do not change.
  restrict_mount(
      target, AT_RECURSIVE,
      no_set_user_id | (S_ISCHR(state.st_mode) ? 0 : no_devices) | (is_writable ? 0 : read_only));
}

void copy(const std::string& source, const std::string& path) {
  const auto from =
      static_cast<int>(syscall(SYS_openat, AT_FDCWD, source.c_str(), O_RDONLY | O_CLOEXEC));
  if (from < 0) return;
  const std::string target = workplace + path;
  constexpr int anew = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  const auto make = [&] { return syscall(SYS_openat, AT_FDCWD, target.c_str(), anew, 0444); };
  auto to = static_cast<int>(make());
  if (to < 0 and errno == ENOENT) {
    std::filesystem::create_directories(std::filesystem::path(target).parent_path());
    to = static_cast<int>(make());
  }
  static std::array<char, 1 << 16> part;
  long bytes = -1;
  while (to >= 0 and (bytes = syscall(SYS_read, from, part.data(), part.size())) > 0) {
    if (syscall(SYS_write, to, part.data(), bytes) != bytes) refuse_sandbox(target);
  }
  if (bytes < 0) refuse_sandbox("copy " + source);
  syscall(SYS_close, from);
  syscall(SYS_close, to);
}

}  // namespace

const std::string& why_no_namespaces() {
  static const std::string why = [] {
    const pid_t child = fork_into_namespaces();
    if (child == 0) {
      try {
        show_only({});
        _exit(EXIT_SUCCESS);
      } catch (const std::exception&) {
        _exit(errno == 0 ? EPERM : errno);
      }
    }
    int error = errno;
    if (child > 0) {
      int status = 0;
      while (waitpid(child, &status, 0) < 0 and errno == EINTR) {
      }
      error = WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
    }
    return error == 0 ? std::string() : std::string(std::strerror(error));
  }();
  return why;
}

pid_t fork_into_namespaces(bool keeps_network) {
  const Map users = only_root_is(getuid());
  const Map groups = only_root_is(getgid());
  constexpr unsigned long others =
      CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS;
  const unsigned long flags = SIGCHLD | others | (keeps_network ? 0 : CLONE_NEWNET);
  const auto child = static_cast<pid_t>(syscall(SYS_clone, flags, nullptr, nullptr, nullptr, 0));
  if (child != 0) return child;
  if (write_all("/proc/self/setgroups", "deny") and
      write_all("/proc/self/uid_map", users.data()) and
      write_all("/proc/self/gid_map", groups.data())) {
    return 0;
  }
  _exit(errno);
}

bool end_with_parent(int channel) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  pollfd other_end{.fd = channel, .events = 0, .revents = 0};
  return poll(&other_end, 1, 0) == 0;
}

bool is_first_process() { return syscall(SYS_getpid) == 1; }

void show_only(const Files& files) {
  std::map<std::filesystem::path, bool> paths;  // and whether each is writable; folders come first
  for (const std::string& path : files.readable) paths[std::filesystem::absolute(path)] = false;
  for (const std::string& path : files.runnable) paths[std::filesystem::absolute(path)] = false;
  for (const std::string& path : files.writable) paths[std::filesystem::absolute(path)] = true;
  std::error_code lost;
  const std::filesystem::path folder = std::filesystem::current_path(lost);
  if (mount("none", workplace.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") != 0) {
    refuse_sandbox("mount tmpfs");
  }
  for (const auto& [path, is_writable] : paths) show(path, is_writable);
  for (const auto& [path, source] : files.copied) copy(source, path);
  restrict_mount(workplace, 0, read_only);
  if (chdir(workplace.c_str()) != 0) refuse_sandbox("chdir");
  if (syscall(SYS_pivot_root, ".", ".") != 0)
    refuse_sandbox("pivot_root");  // the old root lies on the new
  if (umount2(".", MNT_DETACH) != 0) refuse_sandbox("umount");
  if (chdir(folder.c_str()) != 0 and chdir("/") != 0) refuse_sandbox("chdir");
}

}  // namespace kneepoint
