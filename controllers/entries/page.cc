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
  page.turn.store(to);
  if (page.sleeps[to].load() != 0) futex(page.turn, FUTEX_WAKE, 1, nullptr);
}

bool await_turn(EntryPage& page, EntryPage::Turn mine, std::chrono::microseconds limit) {
  constexpr int64_t second_us = 1'000'000;
  const timespec span{.tv_sec = limit.count() / second_us,
                      .tv_nsec = limit.count() % second_us * 1000};
  while (true) {
    const uint32_t turn = page.turn.load(std::memory_order_acquire);
    if (turn == mine) return true;
    page.sleeps[mine].store(1);
    futex(page.turn, FUTEX_WAIT, turn, limit.count() == 0 ? nullptr : &span);
    page.sleeps[mine].store(0);
    if (limit.count() != 0) return page.turn.load(std::memory_order_acquire) == mine;
  }
}

}  // namespace kneepoint
