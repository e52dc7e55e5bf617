import { Option } from "effect"

/** Releases on the server after an activation. */
export interface KeptRelease {
  /** The release that runs now. */
  readonly release: Option.Option<string>
  /** The release that ran before, if there was one. */
  readonly before: Option.Option<string>
  /** Reason why no release was recorded; empty if one was. */
  readonly problem: string
}

/** Result without a release, with the reason. */
export const makeReleaseNotKept = (problem: string): KeptRelease => ({
  release: Option.none(),
  before: Option.none(),
  problem
})

/** Reads the `release`, `before` and `unkept` lines of an activation. */
export const parseKeptRelease = (lines: ReadonlyArray<string>): KeptRelease => {
  const value = (key: string) =>
    Option.fromNullable(lines.find((line) => line.startsWith(`${key}\t`))?.slice(key.length + 1))
  return {
    release: value("release"),
    before: value("before"),
    problem: Option.getOrElse(value("unkept"), () => "")
  }
}

/** Note for a result's message, with a leading space; empty if a release was recorded. */
export const describeKeptRelease = ({ problem }: KeptRelease): string =>
  problem === "" ? "" : ` It was not kept as a release, so a later rollback cannot come back to it: ${problem}.`
