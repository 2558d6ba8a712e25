// entry: one whole sender in virtual time, started by emulate.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "entries/confinement.hh"
#include "entries/exports.hh"
#include "entries/page.hh"
#include "entries/virtual_host.hh"

namespace {

using namespace kneepoint;

constexpr int page_descriptor = 3;

[[noreturn]] void fail(const std::string& reason) {
  std::fprintf(stderr, "%s\n", reason.c_str());
  std::_Exit(EXIT_FAILURE);
}

EntryPage& shared_page() {
  void* const place =
      mmap(nullptr, sizeof(EntryPage), PROT_READ | PROT_WRITE, MAP_SHARED, page_descriptor, 0);
  if (place == MAP_FAILED) fail("this program is started by emulate");
  syscall(SYS_close, page_descriptor);
  return *static_cast<EntryPage*>(place);
}

void set_environment(const std::string& assignment) {
  const size_t equals = assignment.find('=');
  setenv(assignment.substr(0, equals).c_str(), assignment.substr(equals + 1).c_str(), 1);
}

}  // namespace

// entry OBJECT confined|trusted CPU_S MEMORY_MB [NAME=VALUE]... -- HOST PORT [ARGUMENT]...
int main(int argc, char* argv[]) {
  EntryPage& page = shared_page();
  VirtualHost host(page, [&page] {
    give_turn(page, EntryPage::emulators);
    await_turn(page, EntryPage::entrys, 0);
  });
  set_virtual_host(host);
  await_turn(page, EntryPage::entrys, 0);
  const bool is_confined = std::strcmp(argv[2], "confined") == 0;
  const Limits limits{.cpu_s = std::strtoull(argv[3], nullptr, 10),
                      .memory_mb = std::strtoull(argv[4], nullptr, 10),
                      .file_mb = 0,
                      .descriptors = 32};
  try {
    if (is_confined) {
      confine_loading(page, argv[1], limits, nullptr);
    } else {
      set_limits(limits);
    }
  } catch (const SandboxError& error) {
    fail(error.what());
  }
  give_turn(page, EntryPage::emulators);
  await_turn(page, EntryPage::entrys, 0);
  host.begin();
  set_date(page.order.seed);
  srandom(static_cast<unsigned>(host.random().next()));
  srand48(static_cast<long>(host.random().next() >> 32));
  int next = 5;
  for (; next < argc and std::strcmp(argv[next], "--") != 0; ++next) set_environment(argv[next]);
  char name[] = "sender";
  argv[next] = name;
  void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail(std::string("the entry cannot be loaded: ") + dlerror());
  if (is_confined) confine_running(nullptr);
  using Main = int (*)(int, char**, char**);
  const auto entry_main = reinterpret_cast<Main>(dlsym(library, "main"));
  if (entry_main == nullptr) fail("the entry has no main");
  std::exit(entry_main(argc - next, argv + next, environ));
}
