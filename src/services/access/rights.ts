import type { Role } from "../../schema/Settings.ts"

/** The role of a caller; `anonymous` is a caller without a valid token. */
export type CallerRole = Role | "anonymous"

/** Callers that an endpoint is for: of a role at least; or all, some endpoints only without query parameters. */
export type Access = "anyone" | "anyone without parameters" | Role

const ranks: Readonly<Record<CallerRole, number>> = { anonymous: 0, viewer: 1, operator: 2 }

/** Whether a role is at least the one required. */
const hasRole = (role: CallerRole, required: CallerRole): boolean => ranks[role] >= ranks[required]

/** Whether an endpoint of this access is open to everybody, at least without query parameters. */
export const isOpen = (access: Access): boolean => access === "anyone" || access === "anyone without parameters"

/** Whether a role may send a request to an endpoint of this access. */
export const mayCall = (role: CallerRole, access: Access, { hasQuery }: { readonly hasQuery: boolean }): boolean =>
  hasRole(
    role,
    isOpen(access) && (access === "anyone" || !hasQuery)
      ? "anonymous"
      : access === "operator"
      ? "operator"
      : "viewer"
  )

/** Whether a role may call anything beyond what is open to everybody. */
export const isKnown = (role: CallerRole): role is Role => hasRole(role, "viewer")

/** Whether a role may change anything, or start a run. */
export const mayChange = (role: CallerRole): boolean => hasRole(role, "operator")

/** Whether a role may read values of variables, which may be credentials, and not their names alone. */
export const maySeeValues = (role: CallerRole): boolean => hasRole(role, "operator")

/** Whether a caller is still the same, with at least the rights that it had before. */
export const keepsRights = (
  before: { readonly name: string; readonly role: CallerRole },
  now: { readonly name: string; readonly role: CallerRole }
): boolean => now.name === before.name && hasRole(now.role, before.role)
