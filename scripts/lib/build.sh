# Configuring and building with the presets of CMakePresets.json.
# Needs output.sh.
# shellcheck shell=bash
: "${root:?must name the folder of the checkout}"

# Whether the preset's build folder is configured, and for this checkout: a
# folder that was moved or copied would build the sources at its old place.
preset_is_configured() {
  local build="$root/build/$1"
  [ -f "$build/build.ninja" ] &&
    grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"
}

# preset_configure PRESET [CMAKE ARGUMENT...]
preset_configure() {
  local preset=$1
  local -a fresh=()
  shift
  preset_is_configured "$preset" || fresh=(--fresh)
  (cd "$root" && run_logged "$root/build/$preset.configure.log" \
    cmake --preset "$preset" "${fresh[@]}" "$@")
}

# preset_build PRESET [CMAKE ARGUMENT...]
preset_build() {
  local preset=$1
  shift
  run_logged "$root/build/$preset.build.log" cmake --build "$root/build/$preset" "$@"
}
