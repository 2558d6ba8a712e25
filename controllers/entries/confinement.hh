// The rights of an entry's process.
#pragma once

#include <string>

#include "entries/page.hh"
#include "entries/sandbox.hh"

namespace kneepoint {

// All restrictions hold from before the entry's object is loaded to the end of the process. A
// denied call ends the process and is recorded on the page.
//
// A sender has no file but its object, which can be loaded and mapped, and the libraries that its
// program has loaded.
void confine_sender(EntryPage& page, const std::string& object, const ResourceLimits& limits);

// An interpreter, and its program, which runs the entry.
struct Interpreter {
  std::string file;  // PREFIX/bin/python3: the interpreter's library is in PREFIX/lib
  std::string program;
};

// An interpreter loads modules as it runs, from copies in memory: the pages of the files themselves
// would reveal the reads of earlier runs. Requires namespaces.
void confine_interpreter(EntryPage& page, const Interpreter& interpreter, const std::string& object,
                         const ResourceLimits& limits);

}  // namespace kneepoint
