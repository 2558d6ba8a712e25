// The functions of an unwinder that exceptions need; WebAssembly itself unwinds the stack.
#include "unwind.h"
#include "config.h"

extern "C" {
#include "Unwind-wasm.c"
}

// The tag that throw and catch instructions name.
__asm__(
    ".globl __cpp_exception\n"
    ".tagtype __cpp_exception i32\n"
    "__cpp_exception:\n");
