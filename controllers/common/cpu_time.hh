// Why a process ended: the signal's name, and whether the signal came for its limit of CPU time or
// was sent by another process.
#pragma once

#include <sys/resource.h>
#include <sys/time.h>

#include <csignal>
#include <cstdint>
#include <string>
#include <utility>

namespace kneepoint {

// The name of a signal that ends a process; not every C library knows these names.
inline std::string name_of_signal(int number) {
  using Named = std::pair<int, const char*>;
  for (const auto& [signal, name] :
       {Named{SIGABRT, "SIGABRT"}, Named{SIGALRM, "SIGALRM"}, Named{SIGBUS, "SIGBUS"},
        Named{SIGFPE, "SIGFPE"}, Named{SIGHUP, "SIGHUP"}, Named{SIGILL, "SIGILL"},
        Named{SIGINT, "SIGINT"}, Named{SIGKILL, "SIGKILL"}, Named{SIGPIPE, "SIGPIPE"},
        Named{SIGQUIT, "SIGQUIT"}, Named{SIGSEGV, "SIGSEGV"}, Named{SIGSYS, "SIGSYS"},
        Named{SIGTERM, "SIGTERM"}, Named{SIGTRAP, "SIGTRAP"}, Named{SIGXCPU, "SIGXCPU"},
        Named{SIGXFSZ, "SIGXFSZ"}}) {
    if (signal == number) return name;
  }
  return "signal " + std::to_string(number);
}

inline double cpu_time_s(const rusage& used) {
  const auto in_s = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return in_s(used.ru_utime) + in_s(used.ru_stime);
}

// Whether a signal is RLIMIT_CPU's, with the limit `cpu_s` and a hard limit of one second more.
// Many kernels count CPU time in ticks of their timer, and reach the limit somewhat before the time
// that they report does.
inline bool ends_for_cpu_time(int signal, const rusage& used, uint64_t cpu_s) {
  constexpr double min_share = 0.7;
  const auto limit_s = static_cast<double>(cpu_s);
  const double hard_limit_s = limit_s + 1;
  if (signal == SIGXCPU) return cpu_time_s(used) >= min_share * limit_s;
  return signal == SIGKILL and cpu_time_s(used) >= min_share * hard_limit_s;
}

}  // namespace kneepoint
