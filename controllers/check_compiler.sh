#!/usr/bin/env bash
# Fails with a remedy if the C++ compiler that CMake would use does not support C++20.
set -eu
compiler=${CXX:-$(command -v c++ || command -v g++ || command -v clang++ || true)}
remedy='install g++ 11 or later or clang++ 14 or later (Debian: apt-get install g++; conda: cxx-compiler), or name one in CXX'
if [ -z "$compiler" ]; then
  echo "error: there is no C++ compiler; $remedy" >&2
  exit 2
fi
# Standard libraries were late to implement ostringstream::view.
program='#include <sstream>
int main() { return static_cast<int>(std::ostringstream().view().size()); }'
# unquoted: CXX may carry options
if ! $compiler -std=c++20 -fsyntax-only -x c++ - <<<"$program" 2>/dev/null; then
  echo "error: the compiler $compiler does not support C++20; $remedy" >&2
  exit 2
fi
