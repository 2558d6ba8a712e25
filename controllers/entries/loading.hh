// The process of an entry: it confines itself, loads the entry, and runs it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "entries/confinement.hh"
#include "entries/page.hh"

namespace kneepoint {

// The number of words before an entry's own words: the interpreter, three options, and its program.
constexpr int words_of_interpreter = 5;

class EntryLoader {
 public:
  // Takes the page of this process, and the words that EntryWorker has made, which come after
  // `before` other words. Ends the process if they are missing.
  EntryLoader(int count, char* words[], int before);

  EntryPage& page() { return page_; }
  const std::string& object() const { return object_; }

  // Confines the process, or ends it with a reason.
  void confine();

  // Sets the entry's environment, in place of the process's own.
  void give_environment() const;

  // Runs the entry as its own program would run, to the end of the process.
  [[noreturn]] void run();

 private:
  EntryPage& page_;
  std::optional<Interpreter> interpreter_{};  // which runs in this process
  std::string object_{};
  bool is_confined_ = true;
  ResourceLimits limits_{};
  std::vector<std::string> environment_{};
  std::vector<std::string> files_{};  // =NAME=PATH
  std::vector<char*> words_{};        // of the sender
};

}  // namespace kneepoint
