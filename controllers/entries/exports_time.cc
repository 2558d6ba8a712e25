// Clocks and sleeps.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "entries/exports.hh"
#include "entries/messages.hh"

namespace kneepoint {

namespace {

constexpr int64_t uptime_ns = 1000 * second_ns;

VirtualHost* the_host = nullptr;
EntryMessages the_messages{};

bool is_cpu_clock(clockid_t clock) {
  return clock == CLOCK_PROCESS_CPUTIME_ID or clock == CLOCK_THREAD_CPUTIME_ID or clock < 0;
}

bool is_date(clockid_t clock) {
  return clock == CLOCK_REALTIME or clock == CLOCK_REALTIME_COARSE or clock == CLOCK_TAI or
         clock == CLOCK_REALTIME_ALARM;
}

void hand_over() {
  if (not report_and_hear(the_messages)) syscall(SYS_exit_group, EXIT_FAILURE);
}

// A clock's time at the run's beginning.
int64_t origin_ns(clockid_t clock) { return is_date(clock) ? epoch_ns : uptime_ns; }

int sleep_for(const timespec* span) {
  if (span->tv_sec < 0 or span->tv_nsec < 0 or span->tv_nsec >= second_ns) return EINVAL;
  constexpr time_t longest_s = 1'000'000'000;
  const timespec bounded{span->tv_sec < longest_s ? span->tv_sec : longest_s, span->tv_nsec};
  virtual_host().sleep_until(virtual_host().read_clock_ns() + to_ns(bounded));
  return 0;
}

}  // namespace

VirtualHost& virtual_host() { return *the_host; }

void make_host(EntryPage&) {
  static VirtualHost host(the_messages, hand_over);
  the_host = &host;
  reserve_descriptors();
}

void begin_run() {
  hand_over();
  VirtualHost& host = *the_host;
  host.begin();
  srandom(static_cast<unsigned>(host.random().next()));
  srand48(static_cast<long>(host.random().next() >> 32));
}

}  // namespace kneepoint

using namespace kneepoint;

KNEEPOINT_EXPORT int clock_gettime(clockid_t clock, timespec* time) noexcept {
  *time = to_timespec(is_cpu_clock(clock) ? virtual_host().read_cpu_clock_ns()
                                          : origin_ns(clock) + virtual_host().read_clock_ns());
  return 0;
}

KNEEPOINT_EXPORT int gettimeofday(timeval* time, void*) noexcept {
  *time = to_timeval(epoch_ns + virtual_host().read_clock_ns());
  return 0;
}

KNEEPOINT_EXPORT int timespec_get(timespec* time, int base) noexcept {
  if (base != TIME_UTC) return 0;
  clock_gettime(CLOCK_REALTIME, time);
  return base;
}

KNEEPOINT_EXPORT time_t time(time_t* place) noexcept {
  const time_t now_s = (epoch_ns + virtual_host().read_clock_ns()) / second_ns;
  if (place != nullptr) *place = now_s;
  return now_s;
}

KNEEPOINT_EXPORT clock_t clock() noexcept {
  return virtual_host().read_cpu_clock_ns() / (second_ns / CLOCKS_PER_SEC);
}

KNEEPOINT_EXPORT clock_t times(tms* used) noexcept {
  constexpr int64_t tick_ns = second_ns / 100;
  const int64_t cpu_ns = virtual_host().read_cpu_clock_ns();
  if (used != nullptr) *used = {cpu_ns / tick_ns, 0, 0, 0};
  return (uptime_ns + virtual_host().read_clock_ns()) / tick_ns;
}

KNEEPOINT_EXPORT int getrusage(__rusage_who_t, rusage* used) noexcept {
  *used = {};
  used->ru_utime = to_timeval(virtual_host().read_cpu_clock_ns());
  return 0;
}

KNEEPOINT_EXPORT int nanosleep(const timespec* span, timespec*) {
  errno = sleep_for(span);
  return errno == 0 ? 0 : -1;
}

KNEEPOINT_EXPORT int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec*) {
  if ((flags & TIMER_ABSTIME) == 0) return sleep_for(time);
  virtual_host().sleep_until(to_ns(*time) - origin_ns(clock));
  return 0;
}

KNEEPOINT_EXPORT int usleep(useconds_t span_us) {
  const timespec span = to_timespec(int64_t{span_us} * 1000);
  return nanosleep(&span, nullptr);
}

KNEEPOINT_EXPORT unsigned sleep(unsigned span_s) {
  const timespec span{.tv_sec = span_s, .tv_nsec = 0};
  sleep_for(&span);
  return 0;
}

KNEEPOINT_EXPORT int sched_yield() noexcept {
  virtual_host().read_clock_ns();
  return 0;
}
