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

// The inputs of an entry's start, beside its own settings.
struct EntryStart {
  bool is_trusted;
  uint64_t cpu_s;  // CPU time that it may use in all
  // The receiver's address; in virtual time the numbers mean nothing.
  std::string host = "100.64.0.2";
  std::string port = "9090";
  std::optional<int> socket{};  // connected to the receiver, in real time
};

// How an entry's process ended.
struct EntryEnd {
  std::string reason;  // one line, which begins with "the sender"
  bool is_a_fault;     // an entry cannot have done it: another process ended it
};

class EntryWorker {
 public:
  // Starts the entry. Throws std::invalid_argument if the object is missing or has another digest,
  // if there is no interpreter and, unless entries are trusted, if this kernel cannot confine them;
  // MachineFault if no process can be started.
  EntryWorker(const EntrySettings& settings, const EntryStart& start);
  // Ends the process.
  ~EntryWorker();
  EntryWorker(const EntryWorker&) = delete;
  EntryWorker& operator=(const EntryWorker&) = delete;

  EntryPage& page() { return *page_; }

  // Ends the process. Afterwards nothing changes the page.
  void stop();

  // How the process has ended, if it has.
  std::optional<EntryEnd> end();

  // The state of its process, a letter of proc(5); ' ' if there is no process.
  char state() const;

  // In virtual time: the pipe of its orders, and the pipe of its reports.
  int orders() const { return orders_[1]; }
  int report_pipe() const { return reports_; }
  // Waits for a report for at most the limit, or until the process ends or, with `or_prints`,
  // prints. Returns whether there is a report.
  bool reports(std::chrono::microseconds limit, bool or_prints) const;

  // Reads the entry's output, and keeps only the end. In virtual time the entry sleeps while its
  // output fills the pipe: otherwise it could see when its output is read.
  enum class Words { none, some, filled };
  Words read_words();
  // The last line of the output.
  std::string last_words();

 private:
  uint64_t cpu_s_;
  EntryPage* page_ = nullptr;
  pid_t process_ = -1;
  // Both ends of the pipe, because a write to a pipe without a reader raises a signal.
  std::array<int, 2> orders_{-1, -1};
  int reports_ = -1;
  int errors_ = -1;
  std::string said_{};
};

}  // namespace kneepoint
