/** Nothing had begun that stays: what was uploaded lay beside its place. */
export const unchanged = "Nothing on the server was changed"

/** Only images are loaded then, and what their names mean is put back. */
export const untouched = "What ran before was not touched"

/** Whoever started the activation hears of it no more, or it ended without a word. */
export const unknown = "What runs there now is not known: the server finishes the deploy or undoes it by itself"

/** Why an activation came to no end by itself. */
export const stoppedHalfway = "the server stopped halfway"

/** What is left where the script itself was ended. */
export const halfway =
  "What runs there now is not known: deploy again, or run \"sh .berth/restore.sh\" in the remote " +
  "path on the server, which puts the previous version back"

/** What an activation says of the server when it has failed. */
export interface Undone {
  readonly step: string
  /** Whether what ran before is back. */
  readonly isRestored: boolean
  /** Whether anything ran before. */
  readonly wasRunning: boolean
}

/** What runs on the server after an activation that has failed and was undone, as far as that went. */
export const stateAfter = ({ isRestored, step, wasRunning }: Undone): string => {
  if (!isRestored) {
    return "The files of the previous version are back, but it did not start again: docker compose up -d in the " +
      "remote path on the server starts it"
  }
  if (!wasRunning) return "Nothing was running before and nothing is now"
  return step === "load" ? "The previous version is still running" : "The previous version is running again"
}

/** What runs on the server when a step fails in a way that the server has not told. */
export const stateWithin = (step: string): string => {
  switch (step) {
    case "preflight":
    case "upload":
    case "stage":
      return unchanged
    case "pull":
      return untouched
    case "health":
      return "The new version was started and is left as it is"
    default:
      return unknown
  }
}
