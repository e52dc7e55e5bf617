/** Words of a failed run, apart: its cause, what stands on the server now, and what programs printed. */
export interface FailureParts {
  readonly cause: string
  /** Empty where the words do not say. */
  readonly state: string
  /** Further lines; empty without any. */
  readonly output: string
}

// Sentences of failures about the server begin so.
const stateSentence =
  /\. (?=(?:Nothing (?:on|was)|What (?:ran|runs)|Release \d+(?:, which ran| could)|The release before|The (?:files of the )?(?:previous|new) version)\b)/

/** Takes the words of a failed run apart; a message of one sentence is all cause. */
export const splitFailure = (words: string): FailureParts => {
  const [first = "", ...lines] = words.split("\n")
  const at = first.search(stateSentence)
  return {
    cause: at < 0 ? first : first.slice(0, at + 1),
    state: at < 0 ? "" : first.slice(at + 2),
    output: lines.join("\n").trimEnd()
  }
}
