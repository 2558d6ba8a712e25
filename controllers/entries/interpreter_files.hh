// What an interpreter reads to run a sender.
#pragma once

#include <map>
#include <string>

namespace kneepoint {

// Of the interpreter that this process is: its standard library, compiled, but for what no sender
// can use, and the shared libraries that its modules need and this process has not loaded; as
// Files::copied has them. `file` is PREFIX/bin/python3, and the library in PREFIX/lib or lib64.
// Throws SandboxError where there is none.
std::map<std::string, std::string> files_of_interpreter(const std::string& file);

}  // namespace kneepoint
