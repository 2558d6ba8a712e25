// Whether an entry that does not end its turn is to blame.
#include "check.hh"
#include "common/cpu_time.hh"
#include "entries/patience.hh"

namespace {

using namespace kneepoint;
using Verdict = Patience::Verdict;

constexpr uint64_t cpu_s = 2;

// The verdict after `looks` looks at the same state, in a run without further CPU time.
Verdict after_looks(char state, int looks) {
  Patience patience(cpu_s);
  Verdict verdict = Verdict::wait;
  for (int i = 0; i < looks and verdict == Verdict::wait; ++i) verdict = patience.look(state, 0);
  return verdict;
}

TEST(patience_ends_for_an_entry_that_sleeps_and_for_no_other) {
  EXPECT_EQUAL(after_looks('S', 99) == Verdict::wait, true);
  EXPECT_EQUAL(after_looks('S', 100) == Verdict::sleeps, true);
  EXPECT_EQUAL(after_looks('T', 1000) == Verdict::stopped, true);
  EXPECT_EQUAL(after_looks('R', 10'000) == Verdict::wait, true);  // the entry computes
  EXPECT_EQUAL(after_looks('D', 10'000) == Verdict::wait, true);  // the entry reads the disk
}

TEST(patience_counts_the_naps_of_all_turns) {
  Patience patience(cpu_s);
  for (int turn = 0; turn < 99; ++turn) {
    EXPECT_EQUAL(patience.look('S', 1) == Verdict::wait, true);
    EXPECT_EQUAL(patience.wait(1) == Verdict::wait, true);
    EXPECT_EQUAL(patience.look('R', 1) == Verdict::wait, true);
  }
  EXPECT_EQUAL(patience.look('S', 1) == Verdict::sleeps, true);
}

TEST(patience_looks_often_in_a_long_run_and_ends_a_run_that_takes_too_long) {
  Patience patience(cpu_s);
  const auto rarely = patience.interval();
  EXPECT_EQUAL(patience.wait(1.9) == Verdict::wait and patience.interval() == rarely, true);
  EXPECT_EQUAL(patience.wait(2.1) == Verdict::wait and patience.interval() < rarely, true);
  auto interval = patience.interval();
  for (int look = 0; look < 10; ++look) interval = Patience::after(interval);
  EXPECT_EQUAL(interval == rarely, true);
  const auto max_s = static_cast<double>(patience.max_s());
  EXPECT_EQUAL(patience.wait(max_s - 1) == Verdict::wait, true);
  EXPECT_EQUAL(patience.look('R', max_s + 1) == Verdict::late, true);
}

rusage used(long user_s, long system_us) {
  rusage usage{};
  usage.ru_utime.tv_sec = user_s;
  usage.ru_stime.tv_usec = system_us;
  return usage;
}

TEST(limit_of_cpu_time_is_met_by_cpu_time_alone) {
  EXPECT_EQUAL(ends_for_cpu_time(SIGXCPU, used(2, 1), 2), true);
  EXPECT_EQUAL(ends_for_cpu_time(SIGXCPU, used(1, 900'000), 2), true);
  EXPECT_EQUAL(ends_for_cpu_time(SIGXCPU, used(1, 0), 2), false);
  EXPECT_EQUAL(ends_for_cpu_time(SIGKILL, used(3, 1), 2), true);
  EXPECT_EQUAL(ends_for_cpu_time(SIGKILL, used(2, 1), 2), false);
  EXPECT_EQUAL(ends_for_cpu_time(SIGTERM, used(9, 0), 2), false);
}

}  // namespace
