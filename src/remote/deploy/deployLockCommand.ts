import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script } from "./deployLock.sh.ts"

/** Exit code if another holder has the lock; the command then prints its name. */
export const lockedElsewhere = 75

/**
 * Holds the deploy lock of a remote path while its input is open and receives something at least every three minutes.
 * Prints `held` and the revision of the deployed files once it has the lock.
 * @param holder name of the new holder, in one line
 * @param gone name of a holder that is known to be gone, as reported by an earlier attempt; it loses the lock
 */
export const deployLockCommand = (remotePath: string, holder: string, gone = ""): RemoteCommand => ({
  what: "taking the deploy lock",
  script,
  args: [remotePath, holder, gone],
  sudo: false
})
