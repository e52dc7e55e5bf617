import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script } from "./deployLock.sh.ts"

/** The exit code of a lock that somebody else holds; the command then prints who. */
export const lockedElsewhere = 75

/**
 * Holds the deploy lock of a remote path for as long as its input stays open and brings something every three minutes.
 * It prints `held` when it has it, with the revision of what is deployed there.
 * @param holder who takes it, in one line
 * @param gone a holder that is known to be gone, as an earlier attempt named it: it loses the lock
 */
export const deployLockCommand = (remotePath: string, holder: string, gone = ""): RemoteCommand => ({
  what: "taking the deploy lock",
  script,
  args: [remotePath, holder, gone],
  sudo: false
})
