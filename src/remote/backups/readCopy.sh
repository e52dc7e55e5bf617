#!/bin/sh
# readCopy.sh ROOT NAME FILE: prints a file of a backup or of a copy.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
exec cat "$(path_of "$1")/$2/$3"
