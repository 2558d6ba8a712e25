// Preloaded into an interpreter, in either kind of time; for shared objects the program `entry`
// does the same.
#include "entries/exports.hh"
#include "entries/loading.hh"

namespace {

using namespace kneepoint;

// Runs before the interpreter's own code, so that no code reads the host's clocks or randomness.
[[gnu::constructor]] void become_entry(int argc, char* argv[]) {
  static EntryLoader loader(argc, argv, words_of_interpreter);
  make_host(loader.page());
  loader.confine();
  begin_run_with(loader.object().c_str());
  loader.give_environment();
}

}  // namespace
