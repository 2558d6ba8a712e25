// The process of an entry: it confines itself, loads the entry, and runs it.
#pragma once

#include <string>
#include <vector>

#include "entries/confinement.hh"
#include "entries/page.hh"

namespace kneepoint {

class EntryLoader {
 public:
  // Takes the page of this process, and the words that words_for_entry() made. Ends the process
  // where there is none.
  EntryLoader(char* words[], int count);

  EntryPage& page() { return page_; }

  // `socket` is null in virtual time, `interpreter` unless this process is one. Ends the process,
  // with a reason, where it cannot.
  void confine(const RealSocket* socket, const Interpreter* interpreter = nullptr);

  // The entry's whole environment.
  void give_environment() const;

  // Runs the entry as its own program would run, to the end of the process.
  [[noreturn]] void run();

 private:
  EntryPage& page_;
  std::string object_;
  bool is_confined_;
  Limits limits_;
  std::vector<std::string> environment_{};
  std::vector<char*> words_{};  // of the sender
};

}  // namespace kneepoint
