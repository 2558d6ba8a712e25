// A run's progress, readable from a signal handler.
#pragma once

#include <atomic>
#include <cstdint>

namespace kneepoint {

// Counts the emulator's steps between two calls of a controller.
inline std::atomic<uint64_t> progress{0};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// Only one thread counts, so no locked instruction is needed.
inline void note_progress() {
  progress.store(progress.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace kneepoint
