// Runs every test, or the tests whose names contain the first argument.
#include "tests/check.hh"

int main(int argc, char* argv[]) {
  const std::string part = argc > 1 ? argv[1] : "";
  int passed = 0;
  int failed = 0;
  for (const auto& test : kneepoint::test::tests()) {
    if (test.name.find(part) == std::string::npos) continue;
    try {
      test.body();
      ++passed;
    } catch (const std::exception& error) {
      ++failed;
      std::cout << "FAILED " << test.name << ": " << error.what() << '\n';
    }
  }
  std::cout << passed << " passed, " << failed << " failed\n";
  return failed == 0 and passed > 0 ? 0 : 1;
}
