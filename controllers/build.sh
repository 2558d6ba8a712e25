#!/usr/bin/env bash
# Builds targets of controllers/CMakeLists.txt in build/: controllers/build.sh [OPTION...] -- TARGET...
# For another system, KNEEPOINT_TARGET (see toolchains/zig.cmake), in build/target-$KNEEPOINT_TARGET.
# Calls are serialized, because concurrent ninjas corrupt a build folder. Options go to cmake.
set -eu
options=()
failed=0
while [ "$1" != -- ]; do
  options+=("$1")
  shift
done
shift
cd "$(dirname "$0")/.."
if [ -z "${KNEEPOINT_TARGET-}" ]; then
  build=build
  controllers/check_compiler.sh
else
  build=build/target-$KNEEPOINT_TARGET
  options+=(-DCMAKE_TOOLCHAIN_FILE=toolchains/zig.cmake "-DKNEEPOINT_TARGET=$KNEEPOINT_TARGET")
fi
# An earlier call may have used a ninja that no longer exists, such as one in pip's temporary
# folder.
ninja=$(command -v ninja) && options+=("-DCMAKE_MAKE_PROGRAM=$ninja")
mkdir -p $build
exec 9>$build/.lock
flock 9
# A build folder that was moved or copied is configured again: CMake refuses the paths of the old
# folder, and ninja looks there for headers.
grep -qsxF "CMAKE_CACHEFILE_DIR:INTERNAL=$PWD/$build" $build/CMakeCache.txt ||
  rm -rf $build/CMakeCache.txt $build/CMakeFiles $build/.ninja_deps
# Ninja compares times, but a source that was restored or copied with its times is older than the
# files built from other content; and CMake keeps settings that this script no longer makes.
changed=$(LC_ALL=C sha256sum --check --quiet $build/sources.sha256 2>/dev/null | sed -n 's/: FAILED$//p')
if [ -n "$changed" ]; then
  xargs -d '\n' touch <<<"$changed"
  ! grep -qx controllers/build.sh <<<"$changed" || rm -f $build/CMakeCache.txt
fi
# Ninja does not notice, either, that another program has written a built program or controller.
grep -hs "  $build/" $build/sources/* | LC_ALL=C sha256sum --check --quiet 2>/dev/null |
  sed -n 's/: FAILED$//p' | xargs -d '\n' rm -f
find -H controllers -type f | sort | xargs -d '\n' sha256sum >$build/sources.sha256 2>/dev/null || true  # some may be gone
cmake -S controllers -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release ${options[@]+"${options[@]}"} \
  >$build/cmake.log 2>&1 || { cat $build/cmake.log; exit 1; }
ninja -C $build -k 0 "$@" || failed=1
# Remove controllers whose source no longer exists.
for built in $build/controllers/*.so; do
  [ -e "controllers/algorithms/$(basename "$built" .so).cc" ] || rm -f "$built"
done
# Records the digests of the sources and of the built files: see kneepoint/engines/built.py.
mkdir -p $build/sources
note() {
  local name=$1 target=$2
  shift 2
  [ $failed = 0 ] || ninja -C $build -n "$target" | grep -q 'no work to do' || return 0
  name=$name awk '
    { name = ENVIRON["name"]; path = substr($0, 67) }
    path ~ "^controllers/tests/" { next }
    name == "kneepoint.wasm" || path == "controllers/algorithms/" name ".cc" { print; next }
    path ~ "^controllers/wasm/" || path ~ "^controllers/algorithms/[^/]*[.]cc$" { next }
    name == "core" || path ~ "^controllers/(algorithms/|common/portable_math.hh|CMakeLists.txt|build.sh)"
  ' $build/sources.sha256 >"$build/sources/.$name"
  sha256sum "$@" >>"$build/sources/.$name"
  mv "$build/sources/.$name" "$build/sources/$name"
}
note_module() {
  [ $failed = 0 ] || return 0
  cp "$build/kneepoint.wasm" build/
  note kneepoint.wasm module build/kneepoint.wasm
  mkdir -p build/sources
  cp "$build/sources/kneepoint.wasm" build/sources/
}
note_programs() {
  note core programs $(sed "s,^,$build/," $build/programs.txt)
}
note_controller() {
  note "$1" "controller_$1" "$build/controllers/$1.so"
}
for target in "$@"; do
  case $target in
    all | programs) note_programs ;;
    module) note_module ;;
    controller_*) note_controller "${target#controller_}" ;;
  esac
  case $target in
    all | controllers)
      for built in $build/controllers/*.so; do
        note_controller "$(basename "$built" .so)"
      done
      ;;
  esac
done
exit $failed
