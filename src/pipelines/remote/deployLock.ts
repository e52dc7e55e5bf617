import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"

// The lock belongs to this process: it is free again the moment the channel, or whoever opened it, is gone. What a
// broken deploy left in the way goes with it; an activation under way has already moved its files.
const script = `
path=$(path_of "$1")
mkdir -p "$path/.berth" || exit 1
cd "$path/.berth" || exit 1
command -v flock >/dev/null || { echo "flock is missing: install util-linux" >&2; exit 1; }
exec 9>>lock || exit 1
if flock -n 9; then
  printf '%s\\n' "$2" >holder
  rm -rf incoming
  trap : HUP INT TERM
  echo held
  cat >/dev/null
  rm -rf incoming
  : >holder
else
  cat holder
  exit 75
fi
`

/** The exit code of a lock that somebody else holds; the command then prints who. */
export const lockedElsewhere = 75

/** Holds the deploy lock of a remote path for as long as its input stays open. It prints `held` when it has it. */
export const deployLockCommand = (remotePath: string, holder: string): RemoteCommand => ({
  what: "taking the deploy lock",
  script,
  args: [remotePath, holder],
  sudo: false
})
