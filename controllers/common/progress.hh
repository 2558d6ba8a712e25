// That a run goes on, as a signal's handler may see it.
#pragma once

#include <atomic>
#include <cstdint>

namespace kneepoint {

// Counts what the emulator gets done between two calls of a controller.
inline std::atomic<uint64_t> progress{0};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// One thread alone counts, so that no locked instruction is needed.
inline void note_progress() {
  progress.store(progress.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace kneepoint
