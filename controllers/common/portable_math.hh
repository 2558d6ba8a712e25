// Elementary functions with the same result on every machine.
//
// The C library's functions differ between implementations in the last bit. The functions here
// consist of operations that IEEE 754 rounds correctly (+, -, *, / of doubles, without contraction
// into fused operations) and of tables that the compiler computes by the same operations. Errors
// are below 1 ulp except where stated. Zeros, infinities, NaN, subnormal numbers and arguments
// outside of a domain give the results of the C standard (annex F), without errno.
//
// exp, log and pow look up a nearby value and correct it by a short Taylor polynomial (P. Tang:
// Table-driven implementation of the exponential function, ACM TOMS 15, 1989; of the logarithm,
// ACM TOMS 16, 1990).
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace kneepoint::portable {

inline constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double unbounded = std::numeric_limits<double>::infinity();

// An unevaluated sum of two doubles, the second at most half an ulp of the first; T. Dekker: A
// floating-point technique for extending the available precision, Numerische Mathematik 18, 1971.
struct Sum {
  double high = 0;
  double low = 0;

  constexpr double value() const { return high + low; }
};

// Requires |a| >= |b|.
constexpr Sum ordered_sum(double a, double b) {
  const double high = a + b;
  return {high, a - high + b};
}

constexpr Sum exact_sum(double a, double b) {
  const double high = a + b;
  const double other = high - a;
  return {high, (a - (high - other)) + (b - other)};
}

constexpr Sum halves(double a) {
  const double scaled = 0x8000001p0 * a;
  const double high = scaled - (scaled - a);
  return {high, a - high};
}

constexpr Sum exact_product(double a, double b) {
  const double product = a * b;
  const Sum x = halves(a);
  const Sum y = halves(b);
  return {product, ((x.high * y.high - product) + x.high * y.low + x.low * y.high) + x.low * y.low};
}

constexpr Sum operator+(Sum a, Sum b) {
  const Sum sum = exact_sum(a.high, b.high);
  return ordered_sum(sum.high, sum.low + (a.low + b.low));
}

constexpr Sum operator-(Sum a) { return {-a.high, -a.low}; }

constexpr Sum operator*(Sum a, Sum b) {
  const Sum product = exact_product(a.high, b.high);
  return ordered_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

constexpr Sum operator/(Sum a, Sum b) {
  const double ratio = a.high / b.high;
  const Sum rest = a + -(b * Sum{ratio});
  return ordered_sum(ratio, rest.high / b.high);
}

// The part of x that is a multiple of a power of two, and the rest.
constexpr Sum parts(Sum x, double unit) {
  const double high = static_cast<double>(static_cast<int64_t>(x.high / unit)) * unit;
  return {high, (x.high - high) + x.low};
}

inline constexpr Sum ln2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

// 2^(j/128); the second part is relative to the first.
inline constexpr int exp_steps = 128;
inline constexpr auto exp_table = [] {
  constexpr Sum exponent = ln2 * Sum{1.0 / exp_steps};
  Sum ratio{1};
  for (int degree = 14; degree > 0; --degree) {
    ratio = Sum{1} + ratio * exponent / Sum{static_cast<double>(degree)};
  }
  std::array<Sum, exp_steps> table;
  Sum power{1};
  for (Sum& each : table) {
    each = {power.high, power.low / power.high};
    power = power * ratio;
  }
  return table;
}();

// e^rest * 2^(step/128), for |rest| below 0.003, with a relative error below 2^-60.
inline Sum exp_from(int step, double rest) {
  const Sum& nearby = exp_table[static_cast<unsigned>(step) % exp_steps];
  const double square = rest * rest;
  const double more = nearby.low + rest + square * (1.0 / 2 + rest * (1.0 / 6)) +
                      square * square * (1.0 / 24 + rest * (1.0 / 120));
  const int exponent = step >> 7;
  const auto power = [](int of_two) {
    return std::bit_cast<double>(static_cast<uint64_t>(of_two + 1023) << 52);
  };
  if (-1022 < exponent and exponent < 1023) {
    const double scale = nearby.high * power(exponent);
    return ordered_sum(scale, scale * more);
  }
  const int excess = exponent < 0 ? -1000 : 1000;  // one step further than the range of a double
  const double scale = nearby.high * power(exponent - excess);
  const Sum scaled = ordered_sum(scale, scale * more);
  return {scaled.high * power(excess), scaled.low * power(excess)};
}

inline constexpr double exponents_end = 1100;  // beyond it 2^x is infinite, or 0

// The nearest integer.
inline int nearest(double x) {
  constexpr double shift = 0x1.8p52;
  return static_cast<int>(std::bit_cast<int64_t>(x + shift) & 0xffffffff);
}

// e^(x + more), where `more` is small.
inline Sum exp_of_sum(double x, double more) {
  constexpr double end = exponents_end * ln2.high;
  if (not(std::abs(x) < end)) return {x != x ? x : x > 0 ? unbounded : 0};
  // The product of this unit with any step is exact.
  constexpr Sum unit = parts(ln2 * Sum{1.0 / exp_steps}, 0x1p-40);
  const int step = nearest(x * (exp_steps / ln2.high));
  return exp_from(step, (x - step * unit.high) - step * unit.low + more);
}

inline double exp(double x) { return exp_of_sum(x, 0).high; }

inline double exp2(double x) {
  if (not(std::abs(x) < exponents_end)) return x != x ? x : x > 0 ? unbounded : 0;
  const int step = nearest(x * exp_steps);
  return exp_from(step, (x - step * (1.0 / exp_steps)) * ln2.high).high;
}

// For c in the middle of each interval: 1/c in few bits, and ln(c) as a multiple of 2^-42 and the
// rest.
struct Nearby {
  double inverse;
  Sum log;
};
inline constexpr int log_steps = 128;
inline constexpr double log_unit = 0x1p-42;

// The first interval begins half a step below 0.6875; 1 is in the middle of its interval. Below 1
// the steps are half as wide.
inline constexpr uint64_t log_begin = 0x3fe6000000000000 - (uint64_t{1} << 44);
inline constexpr auto log_table = [] {
  std::array<Nearby, log_steps> table{};
  for (size_t i = 0; i < log_steps; ++i) {
    const double middle = std::bit_cast<double>(log_begin + (uint64_t{2 * i + 1} << 44));
    const double inverse = static_cast<double>(static_cast<int>(0x1p11 / middle + 0.5)) * 0x1p-11;
    // 2 atanh((c - 1) / (c + 1)), at most 0.19.
    const Sum ratio = Sum{1 - inverse} / Sum{1 + inverse};
    const Sum square = ratio * ratio;
    Sum series{};
    for (int degree = 43; degree > 0; degree -= 2) {
      series = series * square + Sum{1} / Sum{static_cast<double>(degree)};
    }
    table[i] = {inverse, parts(Sum{2} * ratio * series, log_unit)};
  }
  return table;
}();

// ln(x) of a positive finite x, with a relative error below 2^-65.
constexpr Sum log_of(double x) {
  auto bits = std::bit_cast<uint64_t>(x);
  int exponent = 0;
  if (x < std::numeric_limits<double>::min()) {
    bits = std::bit_cast<uint64_t>(x * 0x1p52);
    exponent = -52;
  }
  const uint64_t place = bits - log_begin;
  exponent += static_cast<int>(std::bit_cast<int64_t>(place) >> 52);
  const Nearby& nearby = log_table[(place >> 45) % log_steps];
  // In two parts, so that the products with the few bits of 1/c are exact, and so is the square of
  // the first part.
  const uint64_t mantissa = bits - (place & (uint64_t{0xfff} << 52));
  const auto first = std::bit_cast<double>((mantissa + 0x80000000) & ~uint64_t{0xffffffff});
  const double rest_high = first * nearby.inverse - 1;
  const double rest_low = (std::bit_cast<double>(mantissa) - first) * nearby.inverse;
  const Sum rest = ordered_sum(rest_high, rest_low);
  const double r = rest.high;
  // ln(1 + r) = r - r^2/2 + r^3 (1/3 - ...)
  constexpr Sum unit = parts(ln2, log_unit);
  const double whole = exponent * unit.high + nearby.log.high;  // exact
  const Sum linear = ordered_sum(whole, r);                     // whole is 0, or greater than r
  const double half = -0.5 * r;
  const double half_high = -0.5 * rest_high;
  const Sum quadratic = ordered_sum(linear.high, rest_high * half_high);
  const double cube = r * r * r;
  const double square = r * r;
  const double higher =
      cube * ((1.0 / 3 - r * (1.0 / 4)) +
              square * ((1.0 / 5 - r * (1.0 / 6)) +
                        square * ((1.0 / 7 - r * (1.0 / 8)) + square * (1.0 / 9))));
  const double low = exponent * unit.low + nearby.log.low + rest.low + linear.low + quadratic.low +
                     rest_low * (half + half_high) + higher;
  return ordered_sum(quadratic.high, low);
}

constexpr double log(double x) {
  if (x > 0 and x < unbounded) return log_of(x).high;
  return x == 0 ? -unbounded : x > 0 ? x : no_number;
}

inline double pow(double x, double y) {
  if (y == 0 or x == 1) return 1;
  if (x != x or y != y) return no_number;
  const double size = std::abs(x);
  if (std::abs(y) == unbounded) return size == 1 ? 1 : (size > 1) == (y > 0) ? unbounded : 0;
  const bool is_negative = std::signbit(x) and std::floor(y) == y and std::floor(y / 2) != y / 2;
  const double sign = is_negative ? -1 : 1;
  if (size == 0 or size == unbounded) {
    return (size == 0) == (y > 0) ? sign * 0 : sign * unbounded;
  }
  if (x < 0 and std::floor(y) != y) return no_number;
  const Sum logarithm = log_of(size);
  const double product = y * logarithm.high;
  if (std::abs(product) > exponents_end) return product > 0 ? sign * unbounded : sign * 0;
  constexpr uint64_t upper = ~uint64_t{0x7ffffff};
  const auto y_high = std::bit_cast<double>(std::bit_cast<uint64_t>(y) & upper);
  const auto log_high = std::bit_cast<double>(std::bit_cast<uint64_t>(logarithm.high) & upper);
  const double log_low = logarithm.high - log_high + logarithm.low;
  return sign * exp_of_sum(y_high * log_high, (y - y_high) * log_high + y * log_low).high;
}

// The real cube root, by Newton's iteration from above; within 2 ulp.
inline double cube_root(double x) {
  if (x == 0 or x != x or std::abs(x) == unbounded) return x;
  if (x < 0) return -cube_root(-x);
  double root = x < 1 ? 1 : x < 0x1p500 ? x : 0x1p500;
  while (true) {
    const double next = (2 * root + x / (root * root)) / 3;
    if (next >= root) return root;
    root = next;
  }
}

// ln(n!) of a whole number, by its asymptotic series (Stirling), or by the product while it is
// exact.
inline double log_factorial(double n) {
  if (n < 23) {
    double product = 1;
    for (double factor = 2; factor <= n; ++factor) product *= factor;
    return log(product);
  }
  constexpr Sum half_log_2_pi{0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55};
  const double square = 1 / (n * n);
  const double series =
      (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square * (1.0 / 1680)))) / n;
  return (Sum{n + 0.5} * log_of(n) + Sum{-n} + half_log_2_pi + Sum{series}).value();
}

// 2/sqrt(pi) * sum of (-1)^n x^(2n+1) / (n! (2n+1)), for 0 <= x <= 2.5.
inline Sum erf_series(double x) {
  constexpr Sum two_by_root_pi{0x1.20dd750429b6dp0, 0x1.1ae3a914fed80p-56};
  const Sum square = -exact_product(x, x);
  Sum term = two_by_root_pi * Sum{x};
  Sum series = term;
  for (int n = 1; std::abs(term.high) > 0x1p-80 * series.high; ++n) {
    term = term * square / Sum{static_cast<double>(n)};
    series = series + term / Sum{2.0 * n + 1};
  }
  return series;
}

// The complementary error function: by the series, or from 2.5 on by its continued fraction,
// sqrt(pi) e^(x^2) erfc(x) = 1/(x + (1/2)/(x + (2/2)/(x + (3/2)/(x + ...)))) (Laplace).
inline double erfc(double x) {
  if (x != x) return x;
  const double size = std::abs(x);
  if (size < 2.5) {
    const Sum within = erf_series(size);
    return (Sum{1} + (x < 0 ? within : -within)).value();
  }
  if (size > 28) return x < 0 ? 2 : 0;
  constexpr Sum root_pi{0x1.c5bf891b4ef6bp0, -0x1.618f13eb7ca89p-54};
  Sum fraction{size};
  for (int n = 60; n > 0; --n) fraction = Sum{size} + Sum{n / 2.0} / fraction;
  const Sum square = exact_product(size, size);
  const double beyond = (exp_of_sum(-square.high, -square.low) / (root_pi * fraction)).value();
  return x < 0 ? 2 - beyond : beyond;
}

}  // namespace kneepoint::portable
