// The one page of memory that an entry's process shares with the process that starts it.
//
// An entry may write anything into it: this affects only its own counts and the reason that is
// given for its end.
#pragma once

#include <atomic>
#include <cstdint>

namespace kneepoint {

struct EntryPage {
  // The descriptors at which an entry's process finds its page and, in real time, its socket.
  static constexpr int descriptor = 3;
  static constexpr int socket_descriptor = 4;

  int32_t denied_call;  // the system call that ended the entry, or `cycle_counter`; -1: none
  // In real time: the size that each datagram must have, and the numbers of datagrams.
  uint64_t datagram_bytes;  // 0: this is virtual time
  std::atomic<uint64_t> sent;
  std::atomic<uint64_t> received;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

}  // namespace kneepoint
