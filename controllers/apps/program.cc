#include "apps/program.hh"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

namespace kneepoint {
namespace {

int refuse(const char* reason) {
  std::fprintf(stderr, "error: %s\n", reason);
  return exit_bad_arguments;
}

}  // namespace

int run_program(int argc, const char* const argv[], const char* usage, int (*run)(const Words&)) {
  try {
    const Words words(argv + 1, argv + argc);
    if (words != Words{"--help"}) return run(words);
    std::fputs(usage, stdout);
    return EXIT_SUCCESS;
  } catch (const std::bad_alloc&) {
    return refuse(out_of_memory);
  } catch (const std::exception& error) {
    return refuse(error.what());
  }
}

void print_line(std::string_view line) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
  std::fflush(stdout);
}

}  // namespace kneepoint
