#!/usr/bin/env bash
# Builds targets of controllers/CMakeLists.txt in build/: rules/build.sh [OPTION...] -- TARGET...
# Calls are serialized, because concurrent ninjas corrupt a build folder. Options go to cmake.
set -eu
options=()
failed=0
while [ "$1" != -- ]; do
  options+=("$1")
  shift
done
shift
rules/check_compiler.sh
mkdir -p build
exec 9>build/.lock
flock 9
cmake -S controllers -B build -G Ninja -DCMAKE_BUILD_TYPE=Release ${options[@]+"${options[@]}"} \
  >build/cmake.log 2>&1 || { cat build/cmake.log; exit 1; }
ninja -C build -k 0 "$@" || failed=1
# Remove controllers whose source no longer exists. CMake notes the source of a report's own.
for built in build/controllers/*.so; do
  source=controllers/algorithms/$(basename "$built" .so).cc
  [ ! -e "${built%.so}.source" ] || source=$(cat "${built%.so}.source")
  [ -e "$source" ] || rm -f "$built" "${built%.so}.source"
done
exit $failed
