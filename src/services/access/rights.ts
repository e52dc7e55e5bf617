import type { RequestedBy } from "../../schema/runs.ts"
import type { Role } from "../../schema/settings.ts"

/** The role of a caller; `anonymous` is a caller without a valid token. */
export type CallerRole = Role | "anonymous"

/** Callers allowed on an endpoint: a minimum role, or everyone (on some endpoints only without query parameters). */
export type Access = "anyone" | "anyone without parameters" | Role

const ranks: Readonly<Record<CallerRole, number>> = { anonymous: 0, viewer: 1, operator: 2 }

const hasRole = (role: CallerRole, required: CallerRole): boolean => ranks[role] >= ranks[required]

/** True when an endpoint is open to every caller, at least without query parameters. */
export const isOpen = (access: Access): boolean => access === "anyone" || access === "anyone without parameters"

/** True when a role may send a request to an endpoint of this access. */
export const mayCall = (role: CallerRole, access: Access, { hasQuery }: { readonly hasQuery: boolean }): boolean =>
  hasRole(
    role,
    isOpen(access) && (access === "anyone" || !hasQuery)
      ? "anonymous"
      : access === "operator"
      ? "operator"
      : "viewer"
  )

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
