import { Data } from "effect"

/** What the process answers with at its end. */
export const exitCodes = {
  done: 0,
  failed: 1,
  /** Something differs: drift, or a plan that would change something. */
  differs: 2,
  /** Deployed, and not healthy. */
  unhealthy: 3,
  usage: 64,
  interrupted: 130
} as const

/** A command was not given as it has to be. Nothing was done. */
export class Usage extends Data.TaggedError("Usage")<{ readonly message: string }> {}

/** A command could not do what it was asked for. */
export class Failed extends Data.TaggedError("Failed")<{ readonly message: string }> {}

/** No project has the name that was given. */
export class NoSuchProject extends Data.TaggedError("NoSuchProject")<{
  readonly name: string
  readonly message: string
}> {}
