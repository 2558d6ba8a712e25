// The files that an interpreter reads to run a sender.
#pragma once

#include <map>
#include <string>

namespace kneepoint {

// For the interpreter that runs in this process: its compiled standard library, without the modules
// that no sender can use, and the shared libraries that its modules need and this process has not
// loaded. The result is a Files::copied. `file` is PREFIX/bin/python3, and the library is in
// PREFIX/lib or lib64. Throws SandboxError if there is no library.
std::map<std::string, std::string> files_of_interpreter(const std::string& file);

}  // namespace kneepoint
