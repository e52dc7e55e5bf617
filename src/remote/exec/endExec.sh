#!/bin/sh
# endExec.sh MARK: ends processes in containers that were started with this mark, as far as permitted: root may end
# all, a member of the group docker only those of its own user.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
endExec=$(cat "$(dirname "$0")/subprocesses/endExec.sh")
as_root sh -c "$endExec" sh "$1" </dev/null
