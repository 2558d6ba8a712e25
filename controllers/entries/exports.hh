// Replacements of the C library's functions in an entry's process in virtual time.
//
// The program that loads an entry exports them, and the dynamic linker finds them there before the
// C library's.
#pragma once

#include <sys/types.h>

#include <cerrno>

#include "entries/virtual_host.hh"

#define KNEEPOINT_EXPORT extern "C" __attribute__((visibility("default")))

namespace kneepoint {

// What a call returns that fails.
inline int fail(int error) {
  errno = error;
  return -1;
}

// The host of this process. There is one, from before the entry is loaded.
VirtualHost& virtual_host();

// Makes it; its clock is the run's after begin_run().
void make_virtual_host(EntryPage& page);

// Says that the process is confined with its first turn, and returns with its second, when the run
// has begun.
void begin_run();

// The run begins when an interpreter opens this file, the entry: the time to get
// there is not part of the run, and differs between interpreters.
void begin_run_with(const char* file);

// Where clocks stand at the run's beginning: whole milliseconds, so that what counts milliseconds
// by truncation agrees with the emulator. The date differs between seeds, because programs seed
// their random numbers with it.
int64_t epoch_ns();

// Whether a descriptor is that of the one socket, in either kind of time.
bool is_the_socket(int descriptor);
// What the kernel opens has other numbers than what is virtual.
void reserve_descriptors();
// Sets errno and returns -1 where it fails.
ssize_t read_file(int descriptor, void* content, size_t bytes);

}  // namespace kneepoint
