# Compiles for another system or an older C library with the Python package ziglang, which contains
# clang, libc++ and the headers of all these systems:
#
#   KNEEPOINT_TARGET=x86_64-linux-gnu.2.28 controllers/build.sh -- programs controllers
#
# Targets: {x86_64,aarch64}-linux-gnu.2.28 of every program, {x86_64,aarch64}-macos of `core`,
# and wasm32-wasi of `module`.
if(NOT KNEEPOINT_TARGET MATCHES "^(x86_64|aarch64|wasm32)-(linux-gnu[.0-9]*|macos[.0-9]*|wasi)$")
  message(FATAL_ERROR "KNEEPOINT_TARGET is '${KNEEPOINT_TARGET}'; set it, such as to x86_64-linux-gnu.2.28")
endif()
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_MATCH_1})
set(system ${CMAKE_MATCH_2})
if(system MATCHES "^macos")
  set(CMAKE_SYSTEM_NAME Darwin)
  set(CMAKE_OSX_SYSROOT "" CACHE STRING "None: zig has one")
elseif(system STREQUAL "wasi")
  set(CMAKE_SYSTEM_NAME WASI)
  set(CMAKE_CXX_FLAGS_INIT "-mcpu=generic+exception_handling -fwasm-exceptions")
else()
  set(CMAKE_SYSTEM_NAME Linux)
endif()
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES KNEEPOINT_TARGET)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # a test program would link another libc++
set(CMAKE_CXX_COMPILER ${CMAKE_CURRENT_LIST_DIR}/zig-clang++)
set(CMAKE_AR ${CMAKE_CURRENT_LIST_DIR}/zig-ar CACHE FILEPATH "What CMake tries the compiler with")
set(CMAKE_CXX_COMPILER_TARGET ${KNEEPOINT_TARGET})
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  set(KNEEPOINT_STATIC_LIBRARY ON CACHE BOOL "As zig links it")
endif()
# zig's linker does not support version scripts for programs.
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
if(NOT CMAKE_SYSTEM_NAME STREQUAL "WASI")  # there -flto loses the handlers of exceptions
  set(CMAKE_CXX_FLAGS_RELEASE_INIT "-flto")  # a tenth smaller, and as fast as with g++
endif()
foreach(kind EXE SHARED MODULE)
  # Without debugging information, and with the small libc++: they are most of a program.
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-s -Os")
endforeach()
