// Seeded randomness that gives the same draws on every machine.
//
// The standard library's distributions differ between implementations.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/portable_math.hh"

namespace kneepoint {

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // A generator for one of several independent streams of the same seed.
  Random(uint64_t seed, uint64_t stream) : state_(seed) { state_ = next() ^ (stream * golden_); }

  uint64_t next() {
    state_ += golden_;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // Uniform in (0, 1): never 0, so that its logarithm exists.
  double uniform() { return (static_cast<double>(next() >> 12) + 0.5) * 0x1p-52; }

 private:
  static constexpr uint64_t golden_ = 0x9e3779b97f4a7c15;
  uint64_t state_;
};

inline double draw_exponential(Random& random, double mean) {
  return -mean * portable::log(random.uniform());
}

// Standard normal, by the polar method (Marsaglia, Bray: SIAM Review 6, 1964).
double draw_normal(Random& random);

// A minimum time plus an exponential time, in whole microseconds, from a table of quantiles: a few
// instructions per draw. The table's resolution cuts the tail at about 8.3 means.
class ExponentialTable {
 public:
  explicit ExponentialTable(double mean_us, int64_t min_us = 0);
  int64_t draw(Random& random) const { return quantiles_[random.next() >> (64 - bits_)]; }

 private:
  static constexpr unsigned bits_ = 11;
  static constexpr size_t size_ = size_t{1} << bits_;
  static const std::array<double, size_> of_mean_1_;
  std::array<int32_t, size_> quantiles_{};
};

// Measured times in whole microseconds: one in 2^k reaches element k. Between two elements a draw
// is uniform; no draw exceeds the last. Without elements every draw is 0.
class MeasuredTable {
 public:
  // Throws std::invalid_argument for a single element, more than `most` elements, or descending
  // elements.
  explicit MeasuredTable(const std::vector<double>& times_us);

  bool empty() const { return times_us_.empty(); }
  int64_t draw(Random& random) const {
    if (empty()) return 0;
    const uint64_t bits = random.next();
    const size_t k = std::min(static_cast<size_t>(std::countl_zero(bits)), times_us_.size() - 2);
    const auto fraction = static_cast<int64_t>((bits << (k + 1)) >> 32);
    return times_us_[k] + (((times_us_[k + 1] - times_us_[k]) * fraction) >> 32);
  }

  static constexpr size_t max = 32;

 private:
  std::vector<int64_t> times_us_{};
};

}  // namespace kneepoint
