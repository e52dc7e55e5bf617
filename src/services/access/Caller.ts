import { Context } from "effect"
import type { RequestedBy } from "../../schema/runs.ts"
import type { Role } from "../../schema/settings.ts"
import { formatUserAtMachine } from "../local/user.ts"

/** The role of a caller; `anonymous` is a caller without a valid token. */
export type CallerRole = Role | "anonymous"

const ranks: Readonly<Record<CallerRole, number>> = { anonymous: 0, viewer: 1, operator: 2 }

const hasRole = (role: CallerRole, required: CallerRole): boolean => ranks[role] >= ranks[required]

/** True when a role may call more than the open endpoints. */
export const isKnown = (role: CallerRole): role is Role => hasRole(role, "viewer")

/** True when a role may change anything, or start a run. */
export const mayChange = (role: CallerRole): boolean => hasRole(role, "operator")

/** True when a role may read values of variables, which may be credentials. */
export const maySeeValues = (role: CallerRole): boolean => hasRole(role, "operator")

/** True when a door may run commands in containers. Agents may not: exec is meant for users and their own programs. */
export const mayExec = (door: RequestedBy["door"]): boolean => door !== "mcp"

/** True when a caller is the same as before, with at least the same rights. */
export const hasKeptRights = (
  before: { readonly name: string; readonly role: CallerRole },
  now: { readonly name: string; readonly role: CallerRole }
): boolean => now.name === before.name && hasRole(now.role, before.role)

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
