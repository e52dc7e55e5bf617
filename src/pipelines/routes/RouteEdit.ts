import { Data } from "effect"

/** Result of an edit of a proxy file: unchanged, with the reason, or the new text. `warnings` are sentences for users. */
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
