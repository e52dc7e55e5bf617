#!/bin/sh
# contents.sh DIRECTORY LIMIT: the first LIMIT bytes of the files whose names are on stdin, each ended by a NUL. Prints the
# name and the text without its NUL bytes, a NUL after each.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
LC_ALL=C
export LC_ALL
contents=$(cat "$(dirname "$0")/subprocesses/contents.sh")
as_root xargs -0 sh -c "$contents" sh "$(path_of "$1")" "$2"
