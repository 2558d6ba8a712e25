// Preloaded into an interpreter in real time: one socket, which is connected.
#include "entries/loading.hh"
#include "entries/realtime_exports.hh"

namespace {

using namespace kneepoint;

[[gnu::constructor]] void become_entry(int argc, char* argv[]) {
  static EntryLoader loader(argc, argv, words_of_interpreter);
  replace_socket(loader.page());
  loader.confine();
  loader.give_environment();
}

}  // namespace
