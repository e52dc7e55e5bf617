import { Context } from "effect"
import type { Role } from "../schema/Settings.ts"
import { userAtMachine } from "../services/runs/RunRequest.ts"

/** Who sends a request: the name of the token, or user@machine where none is needed. */
export interface Caller {
  readonly name: string
  readonly role: Role
  /** The setting that keeps this caller from more. */
  readonly limitedBy?: "mcp.readOnly"
}

/** Whoever works on the machine of the service, or has what the service left there for its user. */
export const localCaller = (): Caller => ({ name: userAtMachine(), role: "operator" })

/** A caller who is not known. */
export const unknownCaller: Caller = { name: "nobody", role: "viewer" }

/** Who sent the request that is being answered. The guard says so; where there is none, it comes from this process. */
export class CurrentCaller extends Context.Reference<CurrentCaller>()("berth/CurrentCaller", {
  defaultValue: localCaller
}) {}
