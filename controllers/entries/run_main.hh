// The boundary to an entry's own code, whose C++ library may be another one.
#pragma once

namespace kneepoint {

// Loads a shared object and runs its main, to the end of the process; prints the reason if it has
// none. Compiled without tables for unwinding: an exception that the entry does not catch ends here
// for its own library, as it would in a program of its own.
[[noreturn]] void run_main(const char* object, int count, char* words[]);

}  // namespace kneepoint
