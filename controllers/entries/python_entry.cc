// Preloaded into an interpreter in virtual time: what the program `entry` is for shared objects.
#include <cstdlib>

#include "entries/exports.hh"
#include "entries/loading.hh"
#include "entries/python_words.hh"

namespace {

using namespace kneepoint;

// Before the interpreter's own code, so that nothing of it reads the host's clocks or randomness.
[[gnu::constructor]] void become_entry(int argc, char* argv[]) {
  const PythonWords words(argc, argv);
  static EntryLoader loader(words.entry(), words.entry_count());
  make_virtual_host(loader.page());
  const Interpreter interpreter = words.interpreter();
  loader.confine(nullptr, &interpreter);
  begin_run_with(words.object());
  unsetenv("LD_PRELOAD");
  loader.give_environment();
}

}  // namespace
