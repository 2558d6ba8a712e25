// For a C++ library that is part of a program or a controller.
#include <cstddef>

// What libc++ does not hide of itself: an entry, whose library is another one, allocates with its
// own, whose exceptions it can catch.
__asm__(
    ".hidden _Znwm, _Znam, _ZnwmSt11align_val_t, _ZnamSt11align_val_t\n"
    ".hidden _ZdlPv, _ZdaPv, _ZdlPvm, _ZdaPvm\n"
    ".hidden _ZdlPvSt11align_val_t, _ZdaPvSt11align_val_t\n"
    ".hidden _ZdlPvmSt11align_val_t, _ZdaPvmSt11align_val_t\n");

// Half of a controller would be what writes the name of an exception that nobody catches, which
// stays as the object has it.
extern "C" char* __cxa_demangle(const char*, char*, size_t*, int* status) {
  constexpr int is_no_name = -2;
  if (status != nullptr) *status = is_no_name;
  return nullptr;
}
