// Preloaded into an interpreter, in either kind of time: what the program `entry` is for shared
// objects.
#include "entries/exports.hh"
#include "entries/loading.hh"

namespace {

using namespace kneepoint;

// Before the interpreter's own code, so that nothing of it reads the host's clocks or randomness.
[[gnu::constructor]] void become_entry(int argc, char* argv[]) {
  static EntryLoader loader(argc, argv, words_of_interpreter);
  make_host(loader.page());
  loader.confine();
  begin_run_with(loader.object().c_str());
  loader.give_environment();
}

}  // namespace
