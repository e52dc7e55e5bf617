/** Limit of a command's output, higher than that of any healthy server. A command that exceeds it is ended. */
export interface AnswerLimit {
  readonly bytes: number
  /** Number of records, each ended by the separator: reading many short ones takes a multiple of their bytes. */
  readonly records: number
  readonly separator: "\n" | "\0"
  /** The number of records in words: `50,000 files`. */
  readonly words: string
  /** Advice for a server that has more. */
  readonly help: string
}

export const mebibyte = 1024 * 1024

/** Default limit of a command. */
export const usualLimit: AnswerLimit = {
  bytes: mebibyte,
  records: 20_000,
  separator: "\n",
  words: "20,000 lines",
  help: "Log in there and see what it prints: something on that server answers in place of its shell or of Docker"
}

/** Makes a limit in lines, for a command with more output than usual. */
export const makeLineLimit = (mebibytes: number, records: number, help = usualLimit.help): AnswerLimit => ({
  bytes: mebibytes * mebibyte,
  records,
  separator: "\n",
  words: `${records.toLocaleString("en-US")} lines`,
  help
})

/** Counts the output of a command by chunk; returns the description of a limit once it is exceeded. */
export const countAnswer = ({ bytes, records, separator, words }: AnswerLimit) => {
  const end = separator.charCodeAt(0)
  let written = 0
  let ended = 0
  return (chunk: Uint8Array): string | undefined => {
    written += chunk.length
    if (written > bytes) return `${bytes / mebibyte} MiB`
    for (let at = chunk.indexOf(end); at >= 0; at = chunk.indexOf(end, at + 1)) ended += 1
    return ended > records ? words : undefined
  }
}
