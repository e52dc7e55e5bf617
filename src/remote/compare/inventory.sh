#!/bin/sh
# inventory.sh DIRECTORY: prints sizes and hashes of the files named on stdin, with NUL-terminated names, and of every
# file below the directories among them. Prints `berth-files`, then `s SIZE NAME` and `HASH  NAME`, each terminated by
# a NUL. A name with a line break, or one that sha256sum would escape, gets a process of its own.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
LC_ALL=C
export LC_ALL
printf 'berth-files\0'
inventory=$(cat "$(dirname "$0")/subprocesses/inventory.sh")
ordinary='{ stat -c "s %s %n" "$@"; sha256sum "$@"; } | tr "\n" "\000"'
odd=$(cat "$(dirname "$0")/subprocesses/inventoryOdd.sh")
as_root xargs -0 sh -c "$inventory" sh "$(path_of "$1")" "$ordinary" "$odd"
