// Replacements of the C library's functions in an entry's process in virtual time.
//
// The program that loads an entry exports them, and the dynamic linker finds them there before the
// C library's.
#pragma once

#include <sys/types.h>

#include "entries/virtual_host.hh"

#define KNEEPOINT_EXPORT extern "C" __attribute__((visibility("default")))

namespace kneepoint {

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

// Whether a descriptor is the virtual socket's or an epoll's, of which the kernel knows nothing.
bool is_virtual(int descriptor);
// What the kernel opens has other numbers.
void reserve_descriptors();
// Set errno and return -1 where they fail.
int close_virtual(int descriptor);
int control_virtual(int descriptor, int command, int argument);
ssize_t read_file(int descriptor, void* content, size_t bytes);

}  // namespace kneepoint
