// Replacements for functions of the C library in an entry's process: all of them in virtual time;
// in real time only the socket functions, for the entry's one connected socket and its whole
// datagrams.
//
// The program that loads an entry exports them, and the dynamic linker finds them there before the
// C library's.
#pragma once

#include <sys/time.h>
#include <sys/types.h>
#include <time.h>

#include <cerrno>
#include <cstdint>

#include "entries/date.hh"
#include "entries/page.hh"
#include "entries/virtual_host.hh"

#define KNEEPOINT_EXPORT extern "C" __attribute__((visibility("default")))

namespace kneepoint {

constexpr int64_t second_ns = 1'000'000'000;

inline timespec to_timespec(int64_t time_ns) {
  return {.tv_sec = time_ns / second_ns, .tv_nsec = time_ns % second_ns};
}
inline timeval to_timeval(int64_t time_ns) {
  return {.tv_sec = time_ns / second_ns, .tv_usec = time_ns % second_ns / 1000};
}
inline int64_t to_ns(const timespec& time) { return time.tv_sec * second_ns + time.tv_nsec; }
inline int64_t to_ns(const timeval& time) { return time.tv_sec * second_ns + time.tv_usec * 1000; }

// The result of a call that fails.
inline int fail(int error) {
  errno = error;
  return -1;
}

// The host of this process. It exists before the entry is loaded.
VirtualHost& virtual_host();

// From now on this process is an entry's, with this page; before, no function is replaced. In
// virtual time this makes the host, whose clock is the run's after begin_run().
void make_host(EntryPage& page);

// Reports that the process is confined, and returns with the first order, when the run has begun.
void begin_run();

// The run begins when an interpreter opens this file, the entry: the time until then is not part of
// the run, and differs between interpreters. In real time the run has begun already.
void begin_run_with(const char* file);

// The clocks' time at the run's beginning: whole milliseconds, so that times truncated to
// milliseconds agree with the emulator.
constexpr int64_t epoch_ns = date_s * second_ns;

// Returns whether a descriptor is the descriptor of the only socket, in either kind of time.
bool is_the_socket(int descriptor);
// Keeps the numbers of virtual descriptors from the descriptors that the kernel opens.
void reserve_descriptors();
// Sets errno and returns -1 if it fails.
ssize_t read_file(int descriptor, void* content, size_t bytes);

}  // namespace kneepoint
