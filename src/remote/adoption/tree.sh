#!/bin/sh
# tree.sh DIRECTORY NAME MOST: prints `entry`, the permissions, size and name of each file below a directory, MOST at most,
# then `unread` if the user may not read all of it.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
cd "$(path_of "$1")" || exit 1
tab=$(printf '\t')
find "./$2" -type f -exec stat -c "entry$tab%a$tab%s$tab%n" {} + 2>/dev/null | head -n "$3"
# shellcheck disable=SC2016 # The other shell expands it.
find "./$2" ! -type l -exec sh -c 'for name do [ -r "$name" ] || { echo unread; exit; }; done' sh {} + 2>/dev/null | head -n 1
exit 0
