// The process of an entry: its start, its output, its end.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "entries/page.hh"
#include "entries/settings.hh"

namespace kneepoint {

// What an entry is started with, beside its own settings.
struct EntryStart {
  bool is_trusted;
  uint64_t cpu_s;  // that it may use in all
  // Its receiver's, in virtual time numbers that mean nothing.
  std::string host = "100.64.0.2";
  std::string port = "9090";
  std::optional<int> socket{};  // that is connected to it, in real time
};

// How an entry's process ended.
struct EntryEnd {
  std::string reason;  // one line, which begins with "the sender"
  bool is_a_fault;     // nothing that an entry can do to itself: somebody else ended it
};

class EntryWorker {
 public:
  // Starts it, and discards its output. Throws std::invalid_argument for an object that is missing
  // or has another digest, where there is no interpreter, and, unless entries are trusted, where
  // this kernel cannot confine them; MachineFault where no process can be started.
  EntryWorker(const EntrySettings& settings, const EntryStart& start);
  // Ends it.
  ~EntryWorker();
  EntryWorker(const EntryWorker&) = delete;
  EntryWorker& operator=(const EntryWorker&) = delete;

  EntryPage& page() { return *page_; }

  // Afterwards nothing changes the page.
  void stop();

  // How it has ended, if it has.
  std::optional<EntryEnd> end();

  // Of its process, a letter of proc(5); ' ' where there is none.
  char state() const;

  // In virtual time: where it gets its orders, and where its reports arrive.
  int orders() const { return orders_[1]; }
  int report_pipe() const { return reports_; }
  // Waits for a report, for as long as the limit says, or until the process ends or, if that
  // counts, prints. Returns whether there is one.
  bool reports(std::chrono::microseconds limit, bool or_prints) const;

  // Reads what it has written to stderr, of which only some is kept. In virtual time it sleeps
  // where that fills its pipe: otherwise it could see when somebody reads.
  enum class Words { none, some, filled };
  Words read_words();
  // The last line of them.
  std::string last_words();

 private:
  uint64_t cpu_s_;
  EntryPage* page_ = nullptr;
  pid_t process_ = -1;
  // Both ends, because a write to a pipe without a reader is a signal.
  std::array<int, 2> orders_{-1, -1};
  int reports_ = -1;
  int errors_ = -1;
  std::string said_{};
};

}  // namespace kneepoint
