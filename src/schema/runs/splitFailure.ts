/** Parts of a failed run's message: its cause, the state of the server, and the output of programs. */
export interface FailureParts {
  readonly cause: string
  /** Empty if the message does not contain it. */
  readonly state: string
  /** Further lines; empty if there are none. */
  readonly output: string
}

// Matches the start of a sentence about the server's state.
const stateSentence =
  /\. (?=(?:Nothing (?:on|was)|What (?:ran|runs)|Release \d+(?:, which ran| could)|The release before|The (?:files of the )?(?:previous|new) version)\b)/

/** Splits the message of a failed run into its parts; a single sentence is the cause. */
export const splitFailure = (words: string): FailureParts => {
  const [first = "", ...lines] = words.split("\n")
  const at = first.search(stateSentence)
  return {
    cause: at < 0 ? first : first.slice(0, at + 1),
    state: at < 0 ? "" : first.slice(at + 2),
    output: lines.join("\n").trimEnd()
  }
}
