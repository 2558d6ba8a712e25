// Seeded randomness that gives the same draws on every machine.
//
// The standard library's distributions differ between implementations, and so do the last bits of
// the C library's log(); everything here uses only integer arithmetic and the basic operations
// that IEEE 754 rounds exactly.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

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

// Natural logarithm of a positive normal number, relative error below 1e-14, by the series of the
// inverse hyperbolic tangent: ln m = 2 atanh((m - 1) / (m + 1)) with m in [sqrt(1/2), sqrt(2)).
constexpr double exact_log(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double mantissa = std::bit_cast<double>((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
  if (mantissa > 1.4142135623730951) {
    mantissa /= 2;
    ++exponent;
  }
  const double ratio = (mantissa - 1) / (mantissa + 1);
  const double square = ratio * ratio;
  double sum = 0;
  for (int degree = 21; degree >= 1; degree -= 2) sum = sum * square + 1.0 / degree;
  return 2 * ratio * sum + exponent * 0.6931471805599453;
}

// The exponential function for |x| below 100, relative error below 1e-14: its series where |x| is
// at most ln(2) / 2, times a power of two.
constexpr double exact_exp(double x) {
  constexpr double ln2 = 0.6931471805599453;
  const auto exponent = static_cast<int64_t>(x / ln2 + (x < 0 ? -0.5 : 0.5));
  const double rest = x - static_cast<double>(exponent) * ln2;
  double sum = 1;
  for (int degree = 15; degree >= 1; --degree) sum = 1 + sum * rest / degree;
  return sum * std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

inline double draw_exponential(Random& random, double mean) {
  return -mean * exact_log(random.uniform());
}

// Standard normal, by the polar method (Marsaglia, Bray: SIAM Review 6, 1964).
double draw_normal(Random& random);

// A least time and an exponential one on top of it, in whole microseconds, from a table of
// quantiles: a few instructions a draw. The table's resolution cuts the tail at about 8.3 means.
class ExponentialTable {
 public:
  explicit ExponentialTable(double mean_us, int64_t least_us = 0);
  int64_t draw(Random& random) const { return quantiles_[random.next() >> (64 - bits_)]; }

 private:
  static constexpr unsigned bits_ = 11;
  std::array<int32_t, size_t{1} << bits_> quantiles_{};
};

// Measured times in whole microseconds: one in 2^k reaches element k. Between two
// elements a draw is uniform; none exceeds the last. Without elements every draw is 0.
class MeasuredTable {
 public:
  // Throws std::invalid_argument for a single element, more than `most`, or a descending one.
  explicit MeasuredTable(const std::vector<double>& times_us);

  bool empty() const { return times_us_.empty(); }
  int64_t draw(Random& random) const {
    if (empty()) return 0;
    const uint64_t bits = random.next();
    const size_t k = std::min(static_cast<size_t>(std::countl_zero(bits)), times_us_.size() - 2);
    const auto fraction = static_cast<int64_t>((bits << (k + 1)) >> 32);
    return times_us_[k] + (((times_us_[k + 1] - times_us_[k]) * fraction) >> 32);
  }

  static constexpr size_t most = 32;

 private:
  std::vector<int64_t> times_us_{};
};

}  // namespace kneepoint
