import { Context } from "effect"
import type { Role } from "../../schema/settings.ts"
import { formatUserAtMachine } from "../local/user.ts"
import { type CallerRole, mayChange } from "./rights.ts"

/** The sender of a request. */
export interface Caller {
  /** Name of the caller's token, or user@machine if no token is required. */
  readonly name: string
  readonly role: CallerRole
  /** The user of this machine, who can read and write its files anyway. */
  readonly isLocal?: boolean
  /** Setting that restricts this caller to less than its full role. */
  readonly limitedBy?: "mcp.readOnly"
}

/** A caller with a valid token, or one that does not need a token. */
export interface KnownCaller extends Caller {
  readonly role: Role
}

/** The user of the service's machine, or a program that has the service's private token. */
export const makeLocalCaller = (): KnownCaller => ({ name: formatUserAtMachine(), role: "operator", isLocal: true })

/** A caller without a valid token. */
export const anonymousCaller: Caller = { name: "nobody", role: "anonymous" }

/** Caller restricted as `mcp.readOnly` requires for agents. */
export const limitToReading = (caller: Caller): Caller =>
  mayChange(caller.role) ? { ...caller, role: "viewer", limitedBy: "mcp.readOnly" } : caller

/**
 * True when a caller may work in any directory of the service's machine, not only below `projects.root`.
 * @param anywhere the setting `projects.anywhere`
 */
export const mayLeaveRoot = ({ isLocal, role }: Caller, anywhere: boolean): boolean =>
  mayChange(role) && (isLocal === true || anywhere)

/** Caller of the current request. The guard provides it; without one, the request comes from this process. */
export class CurrentCaller extends Context.Reference<CurrentCaller>()("berth/CurrentCaller", {
  defaultValue: (): Caller => makeLocalCaller()
}) {}
