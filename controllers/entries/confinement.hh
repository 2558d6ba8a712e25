// The rights of an entry's process.
#pragma once

#include <cstdint>
#include <string>

#include "entries/page.hh"
#include "entries/sandbox.hh"

namespace kneepoint {

// Where the one socket of an entry in real time stands, and what it may send.
struct RealSocket {
  int descriptor;
  uint64_t datagram_bytes;
};

// All of this holds from before the entry's object is loaded to the end of the process. A call that
// is denied is told on the page and ends it. `socket` is null in virtual time.
//
// A sender has no file but its object, which can be loaded and mapped, and the libraries that its
// program has loaded.
void confine_sender(EntryPage& page, const std::string& object, const Limits& limits,
                    const RealSocket* socket);

// An interpreter, and its program, which runs the entry.
struct Interpreter {
  std::string file;  // PREFIX/bin/python3: its library is in PREFIX/lib
  std::string program;
};

// An interpreter loads modules as it runs.
void confine_interpreter(EntryPage& page, const Interpreter& interpreter, const std::string& object,
                         const Limits& limits, const RealSocket* socket);

}  // namespace kneepoint
