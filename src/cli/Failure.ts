import { Data } from "effect"
import type { RunVerdict } from "../schema/runVerdict.ts"

/** What the process answers with at its end. */
export const exitCodes = {
  done: 0,
  failed: 1,
  /** Something differs: drift, or a plan that would change something. */
  differs: 2,
  /** Deployed or started, and not healthy. */
  unhealthy: 3,
  usage: 64,
  interrupted: 130
} as const

/** The exit code of what a run came to. */
export const verdictCode: Readonly<Record<RunVerdict, number>> = {
  done: exitCodes.done,
  unhealthy: exitCodes.unhealthy,
  failed: exitCodes.failed
}

/** A command was not given as it has to be. Nothing was done. */
export class Usage extends Data.TaggedError("Usage")<{
  readonly message: string
  /** The sentence of the service behind it, for whoever reads JSON. */
  readonly answered?: string
}> {}

/** A command could not do what it was asked for. */
export class Failed extends Data.TaggedError("Failed")<{
  readonly message: string
  /** The sentence of the service behind it, for whoever reads JSON. */
  readonly answered?: string
}> {}

/** No project has the name that was given. */
export class NoSuchProject extends Data.TaggedError("NoSuchProject")<{
  readonly name: string
  readonly message: string
}> {}
