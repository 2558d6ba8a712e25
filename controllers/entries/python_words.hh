// The words of an interpreter's process, as python_command() has made them.
#pragma once

#include <cstdlib>

#include "entries/confinement.hh"

namespace kneepoint {

class PythonWords {
 public:
  static constexpr int before_entry = 5;  // interpreter, three options, program

  // Ends the process if they differ.
  PythonWords(int count, char* words[]) : count_(count), words_(words) {
    if (count_ < before_entry + 6) std::_Exit(EXIT_FAILURE);
  }

  Interpreter interpreter() const { return {words_[0], words_[before_entry - 1]}; }
  const char* object() const { return words_[before_entry]; }
  char** entry() const { return words_ + before_entry; }
  int entry_count() const { return count_ - before_entry; }

 private:
  int count_;
  char** words_;
};

}  // namespace kneepoint
