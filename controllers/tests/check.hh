// A small harness: tests register themselves, and a failed check prints the value that it expected.
#pragma once

#include <cmath>
#include <functional>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace kneepoint::test {

struct Test {
  std::string name;
  std::function<void()> body;
};

inline std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

struct Register {
  Register(std::string name, std::function<void()> body) {
    tests().push_back({std::move(name), std::move(body)});
  }
};

class Failure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class Actual, class Expected>
void expect_equal(const Actual& actual, const Expected& expected, const std::string& what) {
  if (actual == expected) return;
  std::ostringstream message;
  message.precision(17);
  message << what << ": expected " << expected << ", got " << actual;
  throw Failure(message.str());
}

inline void expect_near(double actual, double expected, double tolerance, const std::string& what) {
  if (std::abs(actual - expected) <= tolerance) return;
  std::ostringstream message;
  message.precision(17);
  message << what << ": expected " << expected << " within " << tolerance << ", got " << actual;
  throw Failure(message.str());
}

// The action must throw an exception whose text contains `part`.
inline void expect_refused(const std::function<void()>& action, const std::string& part) {
  try {
    action();
  } catch (const std::exception& error) {
    if (std::string(error.what()).find(part) != std::string::npos) return;
    throw Failure("expected an error about '" + part + "', got '" + error.what() + "'");
  }
  throw Failure("expected an error about '" + part + "', got none");
}

}  // namespace kneepoint::test

#define TEST(name)                                                            \
  static void test_##name();                                                  \
  static const kneepoint::test::Register register_##name(#name, test_##name); \
  static void test_##name()
#define EXPECT_EQUAL(actual, expected) kneepoint::test::expect_equal(actual, expected, #actual)
#define EXPECT_NEAR(actual, expected, tolerance) \
  kneepoint::test::expect_near(actual, expected, tolerance, #actual)
