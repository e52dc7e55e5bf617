import type { Tracer } from "effect"

/** Makes a span that is exported; undefined for one that is not. */
export type ExportSpan = (...span: Parameters<Tracer.Tracer["span"]>) => Tracer.Span | undefined
