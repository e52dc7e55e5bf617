#!/bin/sh
# contents.sh DIRECTORY LIMIT: prints the first LIMIT bytes of the files named on stdin, with NUL-terminated names.
# Prints name and text without its NUL bytes, each terminated by a NUL.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
LC_ALL=C
export LC_ALL
contents=$(cat "$(dirname "$0")/subprocesses/contents.sh")
as_root xargs -0 sh -c "$contents" sh "$(path_of "$1")" "$2"
