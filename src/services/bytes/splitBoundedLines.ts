import { Stream } from "effect"

interface Carry {
  /** The beginning of the line that has not ended yet. */
  readonly line: string
  /** True when the line is longer than its retained part. */
  readonly cut: boolean
}

const next = (longest: number) => ({ cut, line }: Carry, text: string): readonly [Carry, ReadonlyArray<string>] => {
  const [first = "", ...rest] = text.split("\n")
  const begun = cut ? line : line + first
  if (rest.length === 0) {
    return [begun.length > longest ? { line: begun.slice(0, longest), cut: true } : { line: begun, cut }, []]
  }
  const last = rest.pop() ?? ""
  const whole = [begun, ...rest].map((each) => each.slice(0, longest))
  return [{ line: last.slice(0, longest), cut: last.length > longest }, whole]
}

/**
 * Splits an endless byte stream into lines of at most `longest` characters; memory stays bounded without line breaks.
 * Invalid UTF-8 becomes replacement characters. Text after the last line break is dropped.
 */
export const splitBoundedLines =
  (longest: number) => <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<string, E, R> =>
    Stream.decodeText(bytes).pipe(
      Stream.mapAccum({ line: "", cut: false }, next(longest)),
      Stream.mapConcat((lines) => lines)
    )
