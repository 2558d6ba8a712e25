// The rights of an entry's process, before and after its code is loaded.
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

// Loading runs the entry's static constructors: they see their own object and the system's
// libraries, and may do what the dynamic linker does. A call that is denied is told on the page and
// ends the process. `socket` is null in virtual time.
void confine_loading(EntryPage& page, const std::string& object, const Limits& limits,
                     const RealSocket* socket);

// An interpreter, and its program, which runs the entry.
struct Interpreter {
  std::string file;  // PREFIX/bin/python3: its library is in PREFIX/lib
  std::string program;
};

// The whole life of an interpreter, which loads modules as it runs.
void confine_interpreter(EntryPage& page, const Interpreter& interpreter, const std::string& object,
                         const Limits& limits, const RealSocket* socket);

// For the rest of the process's life.
void confine_running(const RealSocket* socket);

}  // namespace kneepoint
