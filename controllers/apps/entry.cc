// entry: one whole sender in virtual time, started by emulate.
#include <cstdlib>

#include "entries/exports.hh"
#include "entries/loading.hh"

int main(int argc, char* argv[]) {
  using namespace kneepoint;
  constexpr int least_words = 7;
  if (argc < least_words) return EXIT_FAILURE;
  EntryLoader loader(argv + 1, argc - 1);
  make_virtual_host(loader.page());
  loader.confine(nullptr);
  begin_run();
  loader.run();
}
