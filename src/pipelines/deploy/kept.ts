import { Option } from "effect"

/** What a server has kept of an activation. */
export interface Kept {
  /** The release that runs now. */
  readonly release: Option.Option<string>
  /** The release that ran before, where one did. */
  readonly before: Option.Option<string>
  /** Why what runs now is no release; empty where it is one. */
  readonly problem: string
}

/** Nothing is known to be kept, and why. */
export const keptNot = (problem: string): Kept => ({ release: Option.none(), before: Option.none(), problem })

/** Reads the `release`, `before` and `unkept` lines of an activation. */
export const parseKept = (lines: ReadonlyArray<string>): Kept => {
  const value = (key: string) =>
    Option.fromNullable(lines.find((line) => line.startsWith(`${key}\t`))?.slice(key.length + 1))
  return {
    release: value("release"),
    before: value("before"),
    problem: Option.getOrElse(value("unkept"), () => "")
  }
}

/** What a result's message says of it, with a blank before it; nothing where there is nothing to say. */
export const describeKept = ({ problem }: Kept): string =>
  problem === "" ? "" : ` It was not kept as a release, so a later rollback cannot come back to it: ${problem}.`
