// The one page of memory that whoever starts an entry's process shares with it.
//
// An entry may write anything into it, which concerns nothing but the reason that is given for its
// end.
#pragma once

#include <atomic>
#include <cstdint>

namespace kneepoint {

struct EntryPage {
  // Where an entry's process finds its page, and in real time its socket.
  static constexpr int descriptor = 3;
  static constexpr int socket_descriptor = 4;

  int32_t denied_call;  // the system call that ended the entry, or `cycle_counter`; -1: none
  // In real time: what each of its datagrams must have, and their numbers.
  uint64_t datagram_bytes;  // 0: this is virtual time
  std::atomic<uint64_t> sent;
  std::atomic<uint64_t> received;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

}  // namespace kneepoint
