#!/bin/sh
# findShell.sh CONTAINER: prints the first shell that the container has, bash or sh, and nothing where it has neither.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
for shell in bash sh; do
  said=$(as_root docker exec "$1" "$shell" -c 'exit 0' </dev/null 2>&1)
  case $? in
    0) echo "$shell"; exit 0 ;;
    # Docker's codes for a program that cannot be executed or is not there.
    126 | 127) ;;
    *) printf '%s\n' "$said" >&2; exit 1 ;;
  esac
done
