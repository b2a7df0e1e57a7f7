# Sourced by the scripts beside it: where things are, how they speak, and how a build folder is made ready.
# shellcheck shell=bash

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT
SCRIPT_NAME=$(basename "$0")
readonly SCRIPT_NAME

say() { printf '%s\n' "$*"; }

# The first line says what went wrong, the others how to mend it.
fail() {
  printf '%s: %s\n' "$SCRIPT_NAME" "$1" >&2
  shift
  if [ $# -gt 0 ]; then printf '  %s\n' "$@" >&2; fi
  exit 1
}

# Configures build/PRESET unless that was done. With "always" as the second argument cmake runs in any case, which
# takes a second and also sees a change of CMakePresets.json.
configure() {  # PRESET [always]
  local build="$ROOT/build/$1" fresh=() home
  if [ "${2:-}" != always ] && [ -f "$build/build.ninja" ]; then return; fi
  if [ -f "$build/CMakeCache.txt" ]; then
    # A checkout that was moved or copied brings a cache that points to its old place.
    home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
    if [ "$home" != "$ROOT" ]; then fresh=(--fresh); fi
  fi
  if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
  mkdir -p "$build"
  (cd "$ROOT" && cmake "${fresh[@]}" --preset "$1") >"$build/configure.log" 2>&1 || {
    tail -n 30 "$build/configure.log" >&2
    fail "configuring the preset '$1' failed (the end of cmake's words is above)." \
      "All of them: $build/configure.log" \
      "By hand:     cd $ROOT && cmake --preset $1" \
      "From new:    rm -r $build, then the same command again"
  }
}

build() {  # PRESET [TARGET...]
  local preset=$1
  shift
  (cd "$ROOT" && cmake --build --preset "$preset" ${1:+--target "$@"}) || fail \
    "building the preset '$preset' failed (the compiler's words are above)." \
    "By hand: cd $ROOT && cmake --build --preset $preset"
}
