#include "entries/run_main.hh"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace kneepoint {

namespace {

[[noreturn]] void fail(const char* reason, const char* detail) {
  std::fprintf(stderr, "%s%s\n", reason, detail);
  std::_Exit(EXIT_FAILURE);
}

}  // namespace

void run_main(const char* object, int count, char* words[]) {
  void* const library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail("the entry cannot be loaded: ", dlerror());
  using Main = int (*)(int, char**, char**);
  const auto entry_main = reinterpret_cast<Main>(dlsym(library, "main"));
  if (entry_main == nullptr) fail("the entry has no main", "");
  std::exit(entry_main(count, words, environ));
}

}  // namespace kneepoint
