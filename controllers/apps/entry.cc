// entry: one whole sender in virtual time, started by emulate.
#include <cstdlib>

#include "entries/exports.hh"
#include "entries/loading.hh"
#include "entries/page.hh"
#include "entries/virtual_host.hh"

int main(int argc, char* argv[]) {
  using namespace kneepoint;
  constexpr int least_words = 7;
  if (argc < least_words) return EXIT_FAILURE;
  EntryLoader loader(argv + 1, argc - 1);
  EntryPage& page = loader.page();
  VirtualHost host(page, [&page] {
    give_turn(page, EntryPage::emulators);
    await_turn(page, EntryPage::entrys, 0);
  });
  set_virtual_host(host);
  await_turn(page, EntryPage::entrys, 0);
  loader.confine(nullptr);
  give_turn(page, EntryPage::emulators);
  await_turn(page, EntryPage::entrys, 0);
  host.begin();
  set_date(page.order.seed);
  srandom(static_cast<unsigned>(host.random().next()));
  srand48(static_cast<long>(host.random().next() >> 32));
  loader.run(nullptr);
}
