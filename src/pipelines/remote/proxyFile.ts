import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"

/** The most bytes of a proxy file that Berth reads. */
export const proxyFileLimit = 2 * 1024 * 1024

/** Private copies of the file in the home of the server's user: what it was, and what it should be. */
export interface Staged {
  readonly before: string
  readonly after: string
}

const stagePrefix = ".berth-proxy-"

/** Names for the copies of one edit. `id` makes them unique. */
export const staged = (id: string): Staged => ({
  before: `${stagePrefix}${id}-before`,
  after: `${stagePrefix}${id}-after`
})

/** How long an edit waits for another one, in seconds. */
export const lockSeconds = 30

// Everybody who edits proxy files on the server locks its root directory: whoever may log in can open it, and nobody
// can replace it, plant it or leave it behind. The lock is the process's, and goes with it. What is written while
// waiting tells a shell whose caller has gone away. A server without flock (macOS) goes without: what a file held is
// compared right before it is written.
const takeLock = `
take_lock() {
  command -v flock >/dev/null 2>&1 || return 0
  exec 9</
  give_up=$(($(date +%s) + ${lockSeconds}))
  until flock -n "$1" 9; do
    [ "$(date +%s)" -lt "$give_up" ] || return 1
    printf ' ' >&2
    sleep 0.1 2>/dev/null || sleep 1
  done
}
`

/** The exit codes of the scripts below, where they are not those of the programs they run. */
export const proxyExit = {
  busy: 75,
  changed: 73,
  noBackup: 76,
  restored: 77,
  damaged: 78,
  unusable: 69
} as const

const readScript = `${takeLock}
take_lock -s || exit ${proxyExit.busy}
as_root cat "$1"
`

/** Reads the whole file, never in the middle of somebody's edit. */
export const readProxyFile = (file: string): RemoteCommand => ({
  what: `reading ${file}`,
  script: readScript,
  args: [file],
  sudo: true
})

// What is done to the file, by root's own shell or through "$1" for each command. From the first change to the last
// check nothing stops it: neither a hang-up nor a pipe that nobody reads. What the file holds afterwards decides,
// whatever became of the program that wrote it.
const steps = `
root=$1
file=$2
backup=$2.berth-bak
before=$3
after=$4
[ -r "$before" ] && [ -r "$after" ] || exit 1
holds() { $root cat "$1" | cmp -s - "$2"; }
put() { $root tee "$2" <"$1" >/dev/null; holds "$2" "$1"; }
umask 077
holds "$file" "$before" || exit ${proxyExit.changed}
[ ! -L "$backup" ] || { echo "$backup is a link" >&2; exit ${proxyExit.noBackup}; }
trap "" HUP INT TERM PIPE
put "$before" "$backup" || exit ${proxyExit.noBackup}
put "$after" "$file" && exit 0
put "$before" "$file" && exit ${proxyExit.restored}
exit ${proxyExit.damaged}
`

// One call of sudo does it all, since each may ask for the password. Where sudo allows no shell, or root cannot read
// the home of the user, every cat and tee goes through sudo by itself.
const writeScript = `${takeLock}
steps='${steps}'
before=$HOME/$2
after=$HOME/$3
end() {
  rm -f "$before" "$after"
  exit "$1"
}
command -v cmp >/dev/null 2>&1 || { echo "cmp is not installed (diffutils)" >&2; end ${proxyExit.unusable}; }
[ -r "$before" ] && [ -r "$after" ] || { echo "the staged copies are gone" >&2; end ${proxyExit.unusable}; }
take_lock -x || end ${proxyExit.busy}
find "$HOME/." ! -name . -prune -name '${stagePrefix}*' -mtime +1 -exec rm -f {} + 2>/dev/null
trap '' HUP INT TERM PIPE
said=$(as_root sh -c "$steps" sh "" "$1" "$before" "$after" 2>&1 >/dev/null)
code=$?
if [ "$code" = 1 ]; then
  (
    set -- as_root "$1" "$before" "$after"
    eval "$steps"
  )
  code=$?
else
  printf '%s\\n' "$said" >&2
fi
end "$code"
`

/**
 * Writes the staged bytes into the file if it still holds what was read, keeps what it held beside it, and puts that
 * back when the new bytes do not arrive whole. The staged copies are gone afterwards.
 */
export const writeProxyFile = (file: string, { after, before }: Staged): RemoteCommand => ({
  what: `writing ${file}`,
  script: writeScript,
  args: [file, before, after],
  sudo: true
})

// Waits for a script that may still need the copies.
const discardScript = `${takeLock}
take_lock -x
rm -f "$HOME/$1" "$HOME/$2"
`

/** Removes staged copies after a write whose outcome is unknown. */
export const discardStaged = ({ after, before }: Staged): RemoteCommand => ({
  what: "removing private copies of the proxy file",
  script: discardScript,
  args: [before, after],
  sudo: false
})
