// entry: one whole sender in virtual time, started by emulate.
#include "entries/exports.hh"
#include "entries/loading.hh"

int main(int argc, char* argv[]) {
  using namespace kneepoint;
  EntryLoader loader(argc, argv, 1);
  make_host(loader.page());
  loader.confine();
  begin_run();
  loader.run();
}
