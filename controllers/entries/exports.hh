// What stands in place of the C library's functions in an entry's process in virtual time.
//
// The program that loads an entry exports them, and the dynamic linker finds them there before the
// C library's.
#pragma once

#include "entries/virtual_host.hh"

#define KNEEPOINT_EXPORT extern "C" __attribute__((visibility("default")))

namespace kneepoint {

// The host of this process. There is one, from before the entry is loaded.
VirtualHost& virtual_host();
void set_virtual_host(VirtualHost& host);

// Where clocks stand at the run's beginning: whole milliseconds, so that what counts milliseconds
// by truncation agrees with the emulator. The date differs between seeds, for programs seed their
// random numbers with it.
int64_t epoch_ns();
void set_date(uint64_t seed);

// Whether a descriptor is the virtual socket's or an epoll's, of which the kernel knows nothing.
bool is_virtual(int descriptor);
// Both set errno and return -1 where they fail.
int close_virtual(int descriptor);
int control_virtual(int descriptor, int command, int argument);

}  // namespace kneepoint
