# The Debian packages that building and testing need, and their installation.
# Needs output.sh. docs/DEPENDENCIES.md tells why these and not others.
# shellcheck shell=bash
: "${root:?must name the folder of the checkout}"

# For | package | the programs it is needed for, if only for these | why
# Programs count from wherever they come; a row without programs is looked up
# in dpkg's database.
packages_table() {
  cat <<'END'
build | gcc                 | cc               | compiles the sources
build | libc6-dev           |                  | the C library's headers
build | cmake               | cmake            | configures the build
build | ninja-build         | ninja            | runs the build
build | pkg-config          | pkg-config       | finds the libraries
build | protobuf-c-compiler | protoc-c         | turns the .proto files into C
build | libprotobuf-dev     |                  | descriptor.proto, which protoc-c's options import
build | libprotobuf-c-dev   |                  | encodes and decodes messages
build | libgrpc-dev         |                  | server and client channel
build | libutf8proc-dev     |                  | lower case beyond ASCII
build | libssl-dev          |                  | SHA-256 sums of the works
build | libjansson-dev      |                  | JSON output
build | libdw-dev           |                  | names of functions and lines in profiles
build | zlib1g-dev          |                  | gzip of profiles
build | libmicrohttpd-dev   |                  | profiles over HTTP
bench | python3             | /usr/bin/python3 | runs the benchmarks and adds up
test  | libcmocka-dev       |                  | unit tests
test  | clang-format        | clang-format     | checks the layout of the sources
test  | clang-tidy          | clang-tidy       | static analysis
test  | shellcheck          | shellcheck       | checks the scripts
test  | golang-go           | /usr/bin/go      | an independent count with Go's lower case; go tool pprof
test  | python3             | /usr/bin/python3 | runs the integration tests
test  | python3-grpcio      |                  | a stock gRPC client
test  | python3-grpc-tools  |                  | its stubs
test  | nodejs              | node             | runs another stock gRPC client, and Speedscope's test
test  | npm                 | npm              | fetches that client and Speedscope
test  | ca-certificates     |                  | lets npm verify the server it fetches from
test  | curl                | curl             | scripts/fetch-corpus and its test
test  | libunwind-dev       |                  | the judge of the profiler's unwinder
test  | g++                 | g++              | C++ programs to profile
test  | binutils            | objcopy          | stripped programs and separate debug files
test  | chromium            | chromium         | runs Speedscope, which reads the profiles
test  | libc6-dbg           |                  | names libc's functions in sanitizer reports
END
}

# packages_require KIND...: installs what is missing of these kinds, saying what
# and why first. Returns 1, with one message that names the packages, when that
# needs rights that this user lacks, or fails.
packages_require() {
  local missing names package why
  local -a as_root
  if ! programs_present dpkg-query apt-get; then
    say "Not a Debian: taking for granted that the packages of docs/DEPENDENCIES.md are there."
    return 0
  fi
  missing=$(packages_missing "$@")
  [ -n "$missing" ] || return 0
  names=$(cut -f1 <<<"$missing" | paste -sd' ')

  if [ "$(id -u)" -eq 0 ]; then
    as_root=()
  elif sudo -n true 2>/dev/null; then
    as_root=(sudo -n)
  else
    say "Packages are missing, and installing them needs root. Run this, then start again:" \
      "apt-get update && apt-get install --no-install-recommends $names"
    return 1
  fi

  say "Installing missing Debian packages:"
  while IFS=$'\t' read -r package why; do
    say "$(printf '  %-20s %s' "$package" "$why")"
  done <<<"$missing"
  # shellcheck disable=SC2086 # names is a list of words
  packages_apt update && packages_apt install --yes --no-install-recommends $names
}

# Prints "package TAB why" for what is missing of these kinds.
packages_missing() {
  local wanted=" $* " installed kind package programs why
  # Debian's own state word, so that a removed package with left-over settings is missing.
  # shellcheck disable=SC2016 # dpkg-query's variables, not the shell's
  installed=$(packages_table | cut -d'|' -f2 |
    xargs dpkg-query -W -f='${Package} ${db:Status-Status}\n' 2>/dev/null)
  packages_table | while IFS='|' read -r kind package programs why; do
    kind=${kind// /} package=${package// /}
    [[ $wanted == *" $kind "* ]] || continue
    # shellcheck disable=SC2086 # programs is a list of words
    if [ -n "${programs// /}" ]; then
      programs_present $programs && continue
    elif grep -qxF "$package installed" <<<"$installed"; then
      continue
    fi
    printf '%s\t%s\n' "$package" "${why# }"
  done
}

programs_present() {
  local program
  for program; do
    command -v "$program" >/dev/null || return 1
  done
}

# Runs apt-get with the caller's as_root, and waits for another apt-get to finish.
packages_apt() {
  run_logged "$root/build/packages.log" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -o DPkg::Lock::Timeout=120 "$@"
}
