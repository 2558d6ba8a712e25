// Portable functions, against values that mpmath computed with 300 bits and rounded, and against
// the C library.
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "common/portable_math.hh"
#include "common/random.hh"
#include "tests/check.hh"

using namespace kneepoint;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double min = std::numeric_limits<double>::denorm_min();
constexpr double max = std::numeric_limits<double>::max();

// The error in ulps of the right value.
double error(double found, double right) {
  const double ulp = std::nextafter(std::abs(right), infinite) - std::abs(right);
  return std::abs(found - right) / ulp;
}

struct Value {
  double x;
  double right;
};

void expect_values(double (*function)(double), const std::vector<Value>& values) {
  for (const auto& [x, right] : values) EXPECT_NEAR(error(function(x), right), 0, 1);
}

// The special values that the C standard defines.
void expect_special(double (*function)(double), double (*standard)(double), double ulps = 1) {
  for (const double size : {0.0, infinite, std::nan(""), 1.0, min, max, 1e5}) {
    for (const double x : {size, -size}) {
      const double right = standard(x);
      const double found = function(x);
      EXPECT_EQUAL(std::isnan(found), std::isnan(right));
      if (std::isnan(right)) continue;
      EXPECT_EQUAL(std::signbit(found), std::signbit(right));
      if (found != right) EXPECT_NEAR(error(found, right), 0, ulps);
    }
  }
}

// Both this library and the C library have errors below 1 ulp.
void expect_nearly(double (*function)(double), double (*standard)(double), double from, double to) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const double x = from + (to - from) * random.uniform();
    EXPECT_NEAR(error(function(x), standard(x)), 0, 2);
  }
}

}  // namespace

TEST(portable_exp_is_within_an_ulp) {
  expect_values(portable::exp, {{-0x1.744p9, 0x0.0000000000001p-1022},
                                {-0x1.625999999999ap9, 0x0.bcf8b155b3eep-1022},
                                {-0x1.9266666666666p5, 0x1.5979b805a3ba7p-73},
                                {-0x1p0, 0x1.78b56362cef38p-2},
                                {-0x1.0624dd2f1a9fcp-10, 0x1.ff7cfe56f1a9ep-1},
                                {0x1p-40, 0x1.0000000001p0},
                                {0x1.3333333333333p-2, 0x1.599058c8c1a96p0},
                                {0x1p0, 0x1.5bf0a8b145769p1},
                                {0x1.2d9999999999ap5, 0x1.4f5e50e4f6f14p54},
                                {0x1.62e3d70a3d70ap9, 0x1.fe9ce5c4c52b4p1023}});
  expect_special(portable::exp, std::exp);
  expect_nearly(portable::exp, std::exp, -745, 709);
  expect_nearly(portable::exp, std::exp, -1, 1);
  EXPECT_EQUAL(portable::exp(710), infinite);
  EXPECT_EQUAL(portable::exp(-746), 0.0);
}

TEST(portable_exp2_is_within_an_ulp) {
  expect_values(portable::exp2, {{-0x1.0c5999999999ap10, 0x0.0000000000002p-1022},
                                 {-0x1.fef3333333333p9, 0x1.125fbee2506bp-1022},
                                 {-0x1.a666666666666p1, 0x1.9fdf8bcce533ep-4},
                                 {-0x1p-30, 0x1.fffffffa746f4p-1},
                                 {0x1p-1, 0x1.6a09e667f3bcdp0},
                                 {0x1.999999999999ap0, 0x1.8406003b2ae5dp1},
                                 {0x1.ffae147ae147bp3, 0x1.fc769e9b9c35fp15},
                                 {0x1.fff3333333333p9, 0x1.ddb680117aa8ep1023}});
  expect_special(portable::exp2, std::exp2);
  expect_nearly(portable::exp2, std::exp2, -1074, 1023);
  for (int i = -1074; i < 1024; ++i) EXPECT_EQUAL(portable::exp2(i), std::ldexp(1, i));
  EXPECT_EQUAL(portable::exp2(1024), infinite);
}

TEST(portable_log_is_within_an_ulp) {
  expect_values(portable::log, {{0x0.0000000000007p-1022, -0x1.733f40b165896p9},
                                {0x1.089ed476ecabp-1022, -0x1.622e809940dffp9},
                                {0x1.12e0be826d695p-30, -0x1.4b927f32bffb8p4},
                                {0x1p-1, -0x1.62e42fefa39efp-1},
                                {0x1.6147ae147ae14p-1, -0x1.7bf81e213a5afp-2},
                                {0x1.fffffffffffffp-1, -0x1p-53},
                                {0x1.fffffff768fa1p-1, -0x1.12e0be024e4bcp-30},
                                {0x1.fd70a3d70a3d7p-1, -0x1.48807f33b3513p-8},
                                {0x1.0000000000001p0, 0x1.fffffffffffffp-53},
                                {0x1.004189374bc6ap0, 0x1.060354f8c3cc4p-10},
                                {0x1.00ff972474539p0, 0x1.fe2fc3cf4b407p-9},
                                {0x1.4cccccccccccdp0, 0x1.0ca937be1b9dcp-2},
                                {0x1.8p0, 0x1.9f323ecbf984cp-2},
                                {0x1.8533333333333p6, 0x1.24faa89c8f71dp2},
                                {0x1.e42d130773b76p1023, 0x1.62dd08fdc6f88p9}});
  expect_special(portable::log, std::log);
  expect_nearly(portable::log, std::log, 0, 2);
  expect_nearly(portable::log, std::log, 0.99, 1.01);
  EXPECT_EQUAL(std::signbit(portable::log(1)), false);
}

TEST(portable_pow_is_within_an_ulp) {
  struct Power {
    double x;
    double y;
    double right;
  };
  for (const auto& [x, y, right] :
       std::vector<Power>{{0x1.fe76c8b439581p-1, 0x1.d99999999999ap1, 0x1.fa56fbae6904bp-1},
                          {0x1.fe76c8b439581p-1, 0x1.962p9, 0x1.64dd16bcf63c2p-4},
                          {0x1.000001ad7f29bp0, -0x1.65a0bcp31, 0x1.245755ca0e708p-433},
                          {0x1.7ae147ae147aep-2, 0x1.f0a3d70a3d70ap-1, 0x1.8659eebbf0873p-2},
                          {0x1.5333333333333p2, -0x1.ccccccccccccdp-1, 0x1.c88b00c3aaf74p-3},
                          {0x1.56e1fc2f8f359p-997, 0x1.f0a3d70a3d70ap-1, 0x1.3f559e7bee729p-967},
                          {0x0.00000000017b8p-1022, 0x1p-1, 0x1.37b1311fb4923p-531},
                          {0x1.0000000000004p0, 0x1p58, 0x1.41c7a8814bc36p369},
                          {0x1.fff2e48e8a71ep-1, 0x1.b1598p22, 0x0.31b4540bb5258p-1022},
                          {0x1.4p3, 0x1.3433333333333p8, 0x1.c3647f1d600b6p1023},
                          {0x1p1, -0x1.0c6p10, 0x0.0000000000001p-1022},
                          {-0x1.b333333333333p0, 0x1.4p2, -0x1.c65aaf78feef5p3},
                          {-0x1.b333333333333p0, -0x1p2, 0x1.ea6a63b849facp-4}}) {
    EXPECT_NEAR(error(portable::pow(x, y), right), 0, 1);
  }
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const double x = 2 * random.uniform();
    const double y = 1400 * (random.uniform() - 0.5);
    const double right = std::pow(x, y);
    if (right == infinite) EXPECT_EQUAL(portable::pow(x, y), infinite);
    if (right < infinite) EXPECT_NEAR(error(portable::pow(x, y), right), 0, 2);
  }
}

TEST(portable_pow_has_the_special_values_of_the_c_standard) {
  std::vector<double> values;
  for (const double size :
       {0.0, min, 0.5, 1.0, 1.5, 2.0, 3.0, 1e18, 0x1p53, 0x1p53 + 1, max, infinite, std::nan("")}) {
    values.push_back(size);
    values.push_back(-size);
  }
  for (const double x : values) {
    for (const double y : values) {
      const double right = std::pow(x, y);
      const double found = portable::pow(x, y);
      EXPECT_EQUAL(std::isnan(found), std::isnan(right));
      if (std::isnan(right)) continue;
      EXPECT_EQUAL(std::signbit(found), std::signbit(right));
      if (found != right) EXPECT_NEAR(error(found, right), 0, 1);
    }
  }
}

TEST(portable_cube_root_is_within_two_ulps) {
  for (const auto& [x, right] : std::vector<Value>{{0x1.12e0be826d695p-30, 0x1.0624dd2f1a9fcp-10},
                                                   {0x1.3333333333333p-2, 0x1.56bfea66ef78dp-1},
                                                   {0x1p1, 0x1.428a2f98d728bp0},
                                                   {0x1.6p2, 0x1.c3e27449db536p0},
                                                   {0x1.bp4, 0x1.8p1},
                                                   {0x1.34ap10, 0x1.574760cda2e39p3},
                                                   {0x1.d1a94a2p41, 0x1.f010158b57d11p13}}) {
    EXPECT_NEAR(error(portable::cube_root(x), right), 0, 2);
  }
  expect_special(portable::cube_root, std::cbrt, 2);
  // The error of the C library's cbrt is up to 4 ulps.
  const auto wider = [](double x) { return static_cast<double>(std::cbrt(1.0L * x)); };
  expect_nearly(portable::cube_root, wider, -3000, 3000);
}

TEST(portable_log_factorial_is_within_an_ulp) {
  for (const auto& [n, right] : std::vector<Value>{{3, 0x1.cab0bfa2a2002p0},
                                                   {5, 0x1.326643c4479c9p2},
                                                   {12, 0x1.3fcba16d50143p4},
                                                   {22, 0x1.83c4faba84f06p5},
                                                   {23, 0x1.9cda78b856a45p5},
                                                   {24, 0x1.b6472034e8d14p5},
                                                   {40, 0x1.b94855c702ba2p6},
                                                   {100, 0x1.6bbd47b7669b6p8},
                                                   {256, 0x1.23d0774081621p10},
                                                   {1000, 0x1.71820d04e2eb6p12},
                                                   {100000, 0x1.00aa338ce617fp20}}) {
    EXPECT_NEAR(error(portable::log_factorial(n), right), 0, 1);
  }
  EXPECT_EQUAL(portable::log_factorial(0), 0.0);
  EXPECT_EQUAL(portable::log_factorial(1), 0.0);
}

TEST(portable_erfc_is_within_an_ulp) {
  expect_values(portable::erfc, {{-0x1.6p2, 0x1.fffffffffffdfp0},
                                 {-0x1.3eb851eb851ecp1, 0x1.ffe3ddbea5c37p0},
                                 {-0x1.3333333333333p-2, 0x1.5420e22077a84p0},
                                 {-0x1.12e0be826d695p-30, 0x1.00000004d8aa8p0},
                                 {0x1.12e0be826d695p-30, 0x1.fffffff64eabp-1},
                                 {0x1.999999999999ap-4, 0x1.c66b42bb60999p-1},
                                 {0x1p-1, 0x1.eb02147ce245cp-2},
                                 {0x1p0, 0x1.4226162fbddd5p-3},
                                 {0x1.199999999999ap1, 0x1.e8557fb58fefdp-10},
                                 {0x1.3ffcb923a29c7p1, 0x1.aaf2d67e5a36bp-12},
                                 {0x1.4p1, 0x1.aab859b20ac9ep-12},
                                 {0x1.4cccccccccccdp1, 0x1.ef000330f060cp-13},
                                 {0x1.d99999999999ap1, 0x1.66f44410e9e91p-23},
                                 {0x1.2p3, 0x1.198d422be3f8cp-121},
                                 {0x1.48p4, 0x1.6fb3ff8ccf41cp-612},
                                 {0x1.a4ccccccccccdp4, 0x1.790472d0cb528p-1004},
                                 {0x1.b19999999999ap4, 0x0.00000000001d8p-1022}});
  expect_special(portable::erfc, std::erfc);
  expect_nearly(portable::erfc, std::erfc, -6, 6);
  expect_nearly(portable::erfc, std::erfc, 6, 27);
}
