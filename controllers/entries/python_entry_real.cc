// Preloaded into an interpreter in real time: one socket, which is connected.
#include <cstdlib>

#include "entries/loading.hh"
#include "entries/process.hh"
#include "entries/python_words.hh"
#include "entries/realtime_exports.hh"

namespace {

using namespace kneepoint;

[[gnu::constructor]] void become_entry(int argc, char* argv[]) {
  const char* const bytes = std::getenv("KNEEPOINT_DATAGRAM_BYTES");
  if (bytes == nullptr) std::_Exit(EXIT_FAILURE);
  static const RealSocket socket{.descriptor = EntryWorker::first_descriptor + 1,
                                 .datagram_bytes = std::strtoull(bytes, nullptr, 10)};
  const PythonWords words(argc, argv);
  static EntryLoader loader(words.entry(), words.entry_count());
  replace_socket(socket.descriptor, loader.page());
  const Interpreter interpreter = words.interpreter();
  loader.confine(&socket, &interpreter);
  unsetenv("LD_PRELOAD");
  unsetenv("KNEEPOINT_DATAGRAM_BYTES");
  loader.give_environment();
}

}  // namespace
