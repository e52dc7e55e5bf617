# shellcheck shell=sh
# Subprocess of proxyWrite.sh: ROOT FILE BEFORE AFTER. Edits the file in root's own shell, or with ROOT before each
# command. From the first change to the last check it ignores hang-ups and broken pipes. The result depends on the
# final content of the file, not on exit codes of the programs that wrote it. Exits with 73 if the file has changed, 76
# without a backup, 77 if the old content is restored, 78 if it is not, and 1 if the copies are not readable.
root=$1
file=$2
backup=$2.berth-bak
before=$3
after=$4
[ -r "$before" ] && [ -r "$after" ] || exit 1
holds() { $root cat "$1" | cmp -s - "$2"; }
put() { $root tee "$2" <"$1" >/dev/null; holds "$2" "$1"; }
umask 077
holds "$file" "$before" || exit 73
[ ! -L "$backup" ] || { echo "$backup is a link" >&2; exit 76; }
trap "" HUP INT TERM PIPE
put "$before" "$backup" || exit 76
put "$after" "$file" && exit 0
put "$before" "$file" && exit 77
exit 78
