#!/bin/sh
# endExec.sh MARK: ends what was started in a container with this mark, as far as this user may: root may, and who is in
# the group docker only where the container runs as the same user.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
endExec=$(cat "$(dirname "$0")/subprocesses/endExec.sh")
as_root sh -c "$endExec" sh "$1" </dev/null
