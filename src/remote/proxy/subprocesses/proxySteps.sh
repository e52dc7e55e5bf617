# shellcheck shell=sh
# A process of proxyWrite.sh: ROOT FILE BEFORE AFTER. What is done to the file, by root's own shell or through ROOT for each
# command. From the first change to the last check nothing stops it: neither a hang-up nor a pipe that nobody reads. What
# the file holds afterwards decides, whatever became of the program that wrote it. Exits with 73 where the file has
# changed, 76 without a backup, 77 where the old bytes are back, 78 where they are not, 1 where it may not read the copies.
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
