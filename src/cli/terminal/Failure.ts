import { Data } from "effect"
import type { RunVerdict } from "../../schema/runs/runVerdict.ts"

export const exitCodes = {
  done: 0,
  failed: 1,
  /** Drift, or a plan with changes. */
  differs: 2,
  /** Deployed or started, but unhealthy. */
  unhealthy: 3,
  usage: 64,
  interrupted: 130
} as const

/** Exit code by the verdict of a run. */
export const verdictCode: Readonly<Record<RunVerdict, number>> = {
  done: exitCodes.done,
  unhealthy: exitCodes.unhealthy,
  failed: exitCodes.failed
}

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
  /** Lines with the commands that mend it. */
  readonly next?: ReadonlyArray<string>
}> {}

/** No project has the given name. */
export class NoSuchProject extends Data.TaggedError("NoSuchProject")<{
  readonly name: string
  readonly message: string
}> {}
