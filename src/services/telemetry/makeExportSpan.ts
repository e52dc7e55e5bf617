import { Cause, Exit, FiberId, Option, Predicate, type Tracer } from "effect"
import { isKnownStep } from "../metrics/metrics.ts"
import type { ExportSpan } from "./ExportSpan.ts"

/**
 * Exported root spans: runs, and requests that change something. Reads are excluded, since the page polls every few
 * seconds.
 */
const root = /^(?:run\.[a-z-]+|http\.server (?:POST|PUT|PATCH|DELETE))$/
/** Span names from the code. Names of steps may come from users. */
const given = /^[A-Za-z][\w.-]{0,80}(?: [A-Z]{1,20}|\/v\d+\.execute)?$/
/** Attributes without paths, addresses, headers, output or names of variables. */
const harmless: ReadonlySet<string> = new Set([
  "http.request.method",
  "http.response.status_code",
  "http.route",
  "run.end",
  "run.id",
  "run.kind"
])

const safeName = (name: string): string => {
  const [, step] = /^step\.(.*)$/s.exec(name) ?? []
  if (step !== undefined) return isKnownStep(step) ? name : "step.other"
  return given.test(name) ? name : "other"
}

const tagOf = (error: unknown): string => {
  const tag = Predicate.hasProperty(error, "_tag") && Predicate.isString(error._tag)
    ? error._tag
    : error instanceof Error
    ? error.name
    : "Error"
  return /^[A-Za-z]\w{0,80}$/.test(tag) ? tag : "Error"
}

const failure = (name: string): Exit.Exit<never, Error> => {
  const error = new Error(name)
  error.name = name
  // The stack would contain paths of this machine.
  error.stack = ""
  return Exit.fail(error)
}

/** Exit of a span without messages, which may quote commands, servers and upstreams. */
const safeExit = (exit: Exit.Exit<unknown, unknown>, attributes: ReadonlyMap<string, unknown>) => {
  const end = attributes.get("run.end")
  if (Predicate.isString(end) && end !== "succeeded") return failure(end)
  if (Exit.isSuccess(exit)) return Exit.void
  return Cause.isInterruptedOnly(exit.cause) ? Exit.interrupt(FiberId.none) : failure(tagOf(Cause.squash(exit.cause)))
}

/** Makes exported spans, reduced to data that may leave this machine. */
export const makeExportSpan = (exporting: Tracer.Tracer): ExportSpan => {
  const exported = new WeakSet<Tracer.AnySpan>()
  return (name, parent, context, links, startTime, kind) => {
    // A parent in another process is specified by the caller.
    const above = Option.filter(parent, (span) => exported.has(span) || (root.test(name) && isRemote(span)))
    if (Option.isNone(above) && !root.test(name)) return undefined
    const sent = exporting.span(safeName(name), above, context, [], startTime, kind)
    const attributes = new Map<string, unknown>()
    let status: Tracer.SpanStatus = { _tag: "Started", startTime }
    const span: Tracer.Span = {
      _tag: "Span",
      name,
      spanId: sent.spanId,
      traceId: sent.traceId,
      parent,
      context,
      get status() {
        return status
      },
      attributes,
      links,
      sampled: true,
      kind,
      end: (endTime, exit) => {
        status = { _tag: "Ended", startTime, endTime, exit }
        sent.end(endTime, safeExit(exit, attributes))
      },
      attribute: (key, value) => {
        attributes.set(key, value)
        if (harmless.has(key)) sent.attribute(key, value)
      },
      // Dropped: log lines arrive as events.
      event: () => undefined,
      addLinks: () => undefined
    }
    exported.add(span)
    return span
  }
}

const isRemote = (span: Tracer.AnySpan) =>
  span._tag === "ExternalSpan" && /^[0-9a-f]{32}$/.test(span.traceId) && /^[0-9a-f]{16}$/.test(span.spanId)
