import { Data } from "effect"

/** Invalid usage of a command; nothing was done. */
export class Usage extends Data.TaggedError("Usage")<{
  readonly message: string
  /** Original message of the service, for `--json`. */
  readonly answered?: string
}> {}

/** A command failed. */
export class Failed extends Data.TaggedError("Failed")<{
  readonly message: string
  /** Original message of the service, for `--json`. */
  readonly answered?: string
  /** Lines with the commands that fix the failure. */
  readonly next?: ReadonlyArray<string>
}> {}

/** No project has the given name. */
export class NoSuchProject extends Data.TaggedError("NoSuchProject")<{
  readonly name: string
  readonly message: string
}> {}
