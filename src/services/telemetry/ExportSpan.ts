import type { Tracer } from "effect"

/** Makes an exported span; undefined for a span that is not exported. */
export type ExportSpan = (...span: Parameters<Tracer.Tracer["span"]>) => Tracer.Span | undefined
