import { Effect, Encoding } from "effect"
import { PathSegmentRefused } from "../../schema/basics/Upstream.ts"

/**
 * One escaped segment of a URL path. `.`, `..` and nothing are refused: no escape keeps a URL parser from reading them
 * as a step to another path.
 */
export const pathSegment = (text: string): Effect.Effect<string, PathSegmentRefused> =>
  text === "" || text === "." || text === ".."
    ? Effect.fail(new PathSegmentRefused({ segment: text }))
    : Effect.mapError(Encoding.encodeUriComponent(text), () => new PathSegmentRefused({ segment: text }))

/** Segments as a path that starts with `/`. */
export const buildPath = (segments: ReadonlyArray<string>): Effect.Effect<string, PathSegmentRefused> =>
  Effect.map(Effect.forEach(segments, pathSegment), (escaped) => escaped.map((part) => `/${part}`).join(""))
