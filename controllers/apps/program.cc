#include "apps/program.hh"

#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>

namespace kneepoint {

int run_program(int argc, const char* const argv[], const char* usage, int (*run)(const Words&)) {
  try {
    const Words words(argv + 1, argv + argc);
    if (words != Words{"--help"}) return run(words);
    std::cout << usage;
    return EXIT_SUCCESS;
  } catch (const std::bad_alloc&) {
    std::cerr << "error: " << out_of_memory << '\n';
    return exit_bad_arguments;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return exit_bad_arguments;
  }
}

}  // namespace kneepoint
