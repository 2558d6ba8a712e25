#include "entries/loading.hh"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "entries/given_files.hh"
#include "entries/run_main.hh"

namespace kneepoint {

namespace {

[[noreturn]] void fail(const std::string& reason) {
  std::fprintf(stderr, "%s\n", reason.c_str());
  std::_Exit(EXIT_FAILURE);
}

EntryPage& shared_page() {
  void* const place = mmap(nullptr, sizeof(EntryPage), PROT_READ | PROT_WRITE, MAP_SHARED,
                           EntryPage::descriptor, 0);
  if (place == MAP_FAILED) fail("this program is started by emulate");
  syscall(SYS_close, EntryPage::descriptor);
  return *static_cast<EntryPage*>(place);
}

// Loaded in advance: a confined process opens no library, and this program may have a C++ library
// of its own.
void load_common_libraries() {
  for (const char* const name : {"libstdc++.so.6", "libm.so.6"}) dlopen(name, RTLD_NOW);
}

}  // namespace

EntryLoader::EntryLoader(int count, char* words[], int before) : page_(shared_page()) {
  constexpr int min = 6;
  if (count < before + min) fail("this program is started by emulate");
  load_common_libraries();
  if (before == words_of_interpreter) interpreter_ = {words[0], words[before - 1]};
  char** next = words + before;
  object_ = *next++;
  is_confined_ = std::strcmp(*next++, "confined") == 0;
  limits_ = {.cpu_s = std::strtoull(next[0], nullptr, 10),
             .memory_mb = std::strtoull(next[1], nullptr, 10),
             .file_mb = 0,
             .descriptors = 32};
  next += 2;
  for (; std::strcmp(*next, "--") != 0; ++next) {
    (**next == '=' ? files_ : environment_).emplace_back(*next);
  }
  static char name[] = "sender";
  words_.push_back(name);
  words_.insert(words_.end(), next + 1, words + count);
}

void EntryLoader::confine() {
  try {
    exit_at_cpu_limit();
    for (const std::string& each : files_) {
      const size_t equals = each.find('=', 1);
      const std::string file = each.substr(1, equals - 1);
      if (not give_file(file, each.substr(equals + 1))) fail(file + " cannot be opened");
    }
    if (not is_confined_) {
      set_limits(limits_);
    } else if (interpreter_) {
      confine_interpreter(page_, *interpreter_, object_, limits_);
    } else {
      confine_sender(page_, object_, limits_);
    }
  } catch (const SandboxError& error) {
    fail(error.what());
  }
}

void EntryLoader::give_environment() const {
  clearenv();
  for (const std::string& assignment : environment_) {
    const size_t equals = assignment.find('=');
    setenv(assignment.substr(0, equals).c_str(), assignment.substr(equals + 1).c_str(), 1);
  }
}

void EntryLoader::run() {
  give_environment();
  words_.push_back(nullptr);
  run_main(object_.c_str(), static_cast<int>(words_.size()) - 1, words_.data());
}

}  // namespace kneepoint
