import { Effect, Encoding } from "effect"
import { PathSegmentRefused } from "../../schema/basics/Upstream.ts"

/**
 * Escapes one segment of a URL path. `.`, `..` and an empty segment are refused: URL parsers interpret them as another
 * path, even if they are escaped.
 */
export const pathSegment = (text: string): Effect.Effect<string, PathSegmentRefused> =>
  text === "" || text === "." || text === ".."
    ? Effect.fail(new PathSegmentRefused({ segment: text }))
    : Effect.mapError(Encoding.encodeUriComponent(text), () => new PathSegmentRefused({ segment: text }))

/** Joins segments to a path that starts with `/`. */
export const buildPath = (segments: ReadonlyArray<string>): Effect.Effect<string, PathSegmentRefused> =>
  Effect.map(Effect.forEach(segments, pathSegment), (escaped) => escaped.map((part) => `/${part}`).join(""))
