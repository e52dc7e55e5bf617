/** Uploaded files are still at their temporary paths. */
export const requireUnchanged = "Nothing on the server was changed"

/**
 * Images were loaded and their names restored, or a bridge container was started and removed; nothing else was done.
 */
export const untouched = "What ran before was not touched"

/** The activation's output ended early or is incomplete. */
export const stateUnknown = "What runs there now is unknown: the server finishes the deploy or undoes it by itself"

/** Reason if an activation ended without a result. */
export const stoppedHalfway = "the server stopped halfway"

/** State on the server after the script itself was killed. */
export const halfway = "What runs there now is unknown: deploy again, or run \"sh .berth/restore.sh\" in the remote " +
  "path on the server, which puts the previous version back"

/** Report of a failed activation about the server. */
export interface UndoReport {
  readonly step: string
  /** True if the previous version is restored. */
  readonly isRestored: boolean
  /** True if anything ran before. */
  readonly wasRunning: boolean
}

/** Describes the server's state after a failed activation and its undo. */
export const describeStateAfter = ({ isRestored, step, wasRunning }: UndoReport): string => {
  if (!isRestored) {
    return "The files of the previous version are back, but it did not start again: docker compose up -d in the " +
      "remote path on the server starts it"
  }
  if (!wasRunning) return "Nothing was running before and nothing is now"
  return ["load", "beforeStart", "bridge"].includes(step)
    ? "The previous version is still running"
    : "The previous version is running again"
}

/** Describes the server's state after a failure that the server did not report. */
export const describeStateWithin = (step: string): string => {
  switch (step) {
    case "preflight":
    case "beforeDeploy":
    case "upload":
    case "stage":
      return requireUnchanged
    case "pull":
    case "bridge":
      return untouched
    case "health":
      return "The new version was started and is left as it is"
    default:
      return stateUnknown
  }
}
