import { Data } from "effect"

/** What an edit makes of a proxy file: nothing, for a reason, or a new text. `warnings` are sentences for a reader. */
export type RouteEdit = Data.TaggedEnum<{
  Unchanged: {
    readonly reason: "route_exists" | "route_not_found" | "domain_routed" | "routed_elsewhere"
    readonly warnings: ReadonlyArray<string>
  }
  Edited: {
    readonly change: "inserted" | "replaced" | "removed"
    readonly text: string
    readonly warnings: ReadonlyArray<string>
  }
}>
export const RouteEdit = Data.taggedEnum<RouteEdit>()
