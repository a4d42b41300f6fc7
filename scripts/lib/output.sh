# What the scripts say: lines on standard error, long output in a log file.
# shellcheck shell=bash

say() {
  printf '%s\n' "$*" >&2
}

# Runs a command with its output in a log file: on a terminal its last line is
# shown as progress, and a failure shows the log's end and where the log is.
# Returns the command's status.
run_logged() {
  local log=$1 status
  shift
  mkdir -p "$(dirname "$log")"
  if [ -t 2 ]; then
    "$@" 2>&1 </dev/null | tee "$log" | progress_show
    status=${PIPESTATUS[0]}
  else
    "$@" >"$log" 2>&1 </dev/null
    status=$?
  fi
  if [ "$status" -ne 0 ]; then
    say "--- the end of $log ---"
    tail -n 40 "$log" >&2
    say "--- failed with status $status: $* (all output: $log) ---"
  fi
  return "$status"
}

# Shows each line of standard input in the place of the one before.
progress_show() {
  local line columns
  columns=$(tput cols 2>/dev/null || echo 80)
  while IFS= read -r line; do
    printf '\r\033[K%.*s' "$((columns - 1))" "$line" >&2
  done
  printf '\r\033[K' >&2
}
