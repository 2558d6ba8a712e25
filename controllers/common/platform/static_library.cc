// For a C++ library that is part of a program or a controller.
#include <cstddef>

// Hides the symbols that libc++ itself does not hide: an entry has another C++ library, and must
// allocate with that library, whose exceptions it can catch.
__asm__(
    ".hidden _Znwm, _Znam, _ZnwmSt11align_val_t, _ZnamSt11align_val_t\n"
    ".hidden _ZdlPv, _ZdaPv, _ZdlPvm, _ZdaPvm\n"
    ".hidden _ZdlPvSt11align_val_t, _ZdaPvSt11align_val_t\n"
    ".hidden _ZdlPvmSt11align_val_t, _ZdaPvmSt11align_val_t\n");

// The demangler, which names exceptions that nobody catches, would be half of a controller; such
// names stay mangled instead.
extern "C" char* __cxa_demangle(const char*, char*, size_t*, int* status) {
  constexpr int is_no_name = -2;
  if (status != nullptr) *status = is_no_name;
  return nullptr;
}
