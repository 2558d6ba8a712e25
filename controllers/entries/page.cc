#include "entries/page.hh"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace kneepoint {

namespace {

void futex(std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* limit) {
  syscall(SYS_futex, &word, operation, value, limit, nullptr, 0);
}

}  // namespace

void give_turn(EntryPage& page, EntryPage::Turn to) {
  page.turn.store(to, std::memory_order_release);
  futex(page.turn, FUTEX_WAKE, 1, nullptr);
}

bool await_turn(EntryPage& page, EntryPage::Turn mine, int limit_ms) {
  const timespec limit{.tv_sec = limit_ms / 1000, .tv_nsec = limit_ms % 1000 * 1'000'000L};
  while (true) {
    const uint32_t turn = page.turn.load(std::memory_order_acquire);
    if (turn == mine) return true;
    futex(page.turn, FUTEX_WAIT, turn, limit_ms == 0 ? nullptr : &limit);
    if (limit_ms != 0) return page.turn.load(std::memory_order_acquire) == mine;
  }
}

}  // namespace kneepoint
