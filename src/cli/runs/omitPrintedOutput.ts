/** Most characters of remembered output; errors repeat less. */
const rememberedChars = 8_000

/** Minimum length of a replaced repetition: shorter lines match other sentences by chance. */
const shortestRepetition = 20

/** Appends to the remembered end of a run's output. */
export const appendOutput = (output: string, text: string): string => `${output}${text}`.slice(-rememberedChars)

// Errors omit blank lines of a program's output and end with their own full stop.
const compact = (text: string) => text.replaceAll(/\n\s*\n/g, "\n").trim()

const isLineStart = (text: string, at: number) => at === 0 || /(?:\n|: )$/.test(text.slice(0, at))
const isLineEnd = (text: string, at: number) => /^[.!?]?(?:\s|$)/.test(text.slice(at))

/** Extends a repetition to the output line before it, if the message repeats only the end of that line. */
const cutLineStart = (message: string, at: number, line: string): number => {
  if (message[at - 1] !== "\n") return at
  let start = at - 1
  while (start > 0 && line.length >= at - start && message[start - 1] === line.at(start - at)) start -= 1
  return start < at - 1 && isLineStart(message, start) ? start : at
}

/** Finds the longest series of last output lines that a message repeats; undefined if it repeats no whole line. */
const findRepetition = (message: string, lines: ReadonlyArray<string>) => {
  for (let count = lines.length; count > 0; count--) {
    const repeated = lines.slice(-count).join("\n")
    const at = message.indexOf(repeated)
    const end = at + repeated.length
    if (at < 0 || !isLineStart(message, at) || !isLineEnd(message, end)) continue
    return repeated.length < shortestRepetition
      ? undefined
      : { start: cutLineStart(message, at, lines.at(-count - 1) ?? ""), end }
  }
  return undefined
}

/** Replaces the lines of a message that repeat the end of the printed output by a reference to it. */
export const omitPrintedOutput = (message: string, output: string): string => {
  const whole = compact(message)
  const repetition = findRepetition(whole, compact(output).replace(/[.!?]$/, "").split("\n"))
  if (repetition === undefined) return message
  const before = whole.slice(0, repetition.start).trimEnd()
  return `${before} see the output above${whole.slice(repetition.end).replace(/^[!?]/, ".")}`.trimStart()
}
