// The process of an entry: its start, its output, its end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "entries/page.hh"
#include "entries/settings.hh"

namespace kneepoint {

// Throws std::invalid_argument for an object that is missing or has another digest, or, unless
// entries are trusted, where this kernel cannot confine them.
void check_entry(const EntrySettings& settings, bool is_trusted);

// What every program that an entry is started in is told: the object, whether it is confined, and
// its limits, what it gives as environment, and the sender's own words.
std::vector<std::string> words_for_entry(const EntrySettings& settings, bool is_trusted,
                                         uint64_t cpu_s, const std::string& host,
                                         const std::string& port);

struct EntryCommand {
  std::string program;
  std::vector<std::string> words;
  std::vector<std::string> environment{};
  bool is_trusted = false;  // and shares our namespaces
};

// Starts the interpreter in place of a program of ours, with the same words for the entry. The
// library `preloaded`, which stands beside this program, confines it before it has begun. Throws
// std::invalid_argument where there is no interpreter.
EntryCommand python_command(const EntrySettings& settings, bool is_trusted,
                            const std::string& preloaded, std::vector<std::string> words);

// How an entry's process ended.
struct EntryEnd {
  std::string reason;  // one line, which begins with "the sender"
  bool is_a_fault;     // nothing that an entry can do to itself: somebody else ended it
};

class EntryWorker {
 public:
  static constexpr int first_descriptor = 3;

  // Starts a program with a page and these descriptors, from 3 on; the page comes first. Its output
  // is discarded. Throws MachineFault.
  explicit EntryWorker(EntryCommand command, const std::vector<int>& descriptors = {});
  // Ends it.
  ~EntryWorker();
  EntryWorker(const EntryWorker&) = delete;
  EntryWorker& operator=(const EntryWorker&) = delete;

  EntryPage& page() { return *page_; }

  // Afterwards nothing changes the page.
  void stop();

  // `cpu_s`: what it may use in all.
  std::optional<EntryEnd> end(uint64_t cpu_s);

  // Of its process, a letter of proc(5); ' ' where there is none.
  char state() const;

  // The last line that it has written to stderr, of which only some is kept.
  std::string last_words();

 private:
  EntryPage* page_ = nullptr;
  pid_t process_ = -1;
  int errors_ = -1;
  std::string said_{};
};

}  // namespace kneepoint
