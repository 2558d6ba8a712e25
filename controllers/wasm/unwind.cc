// What exceptions need of an unwinder: WebAssembly unwinds by itself.
#include "unwind.h"
#include "config.h"

extern "C" {
#include "Unwind-wasm.c"
}

// What throw and catch name.
__asm__(
    ".globl __cpp_exception\n"
    ".tagtype __cpp_exception i32\n"
    "__cpp_exception:\n");
