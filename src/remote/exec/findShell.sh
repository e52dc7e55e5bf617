#!/bin/sh
# findShell.sh CONTAINER: prints the first shell that the container has, bash or sh, or nothing if it has neither.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
for shell in bash sh; do
  said=$(as_root docker exec "$1" "$shell" -c 'exit 0' </dev/null 2>&1)
  case $? in
    0) echo "$shell"; exit 0 ;;
    # Docker's exit codes for a program that is not executable or does not exist.
    126 | 127) ;;
    *) printf '%s\n' "$said" >&2; exit 1 ;;
  esac
done
