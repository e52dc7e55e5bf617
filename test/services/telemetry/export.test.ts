import { describe, expect, it } from "@effect/vitest"
import { Cause, Data, Effect, Exit, Option, Tracer } from "effect"
import { makeExportSpan } from "../../../src/services/telemetry/export.ts"

class Refused extends Data.TaggedError("Refused")<{ readonly message: string }> {}

interface Sent {
  readonly name: string
  readonly parent: string | undefined
  readonly attributes: Record<string, unknown>
  exit?: Exit.Exit<unknown, unknown>
}

/** Spans that an effect would export. */
const sentBy = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const sent: Array<Sent> = []
    const exporting = Tracer.make({
      span: (name, parent, context, links, _, kind) => {
        const one: Sent = {
          name,
          parent: Option.getOrUndefined(Option.map(parent, ({ spanId }) => spanId)),
          attributes: {}
        }
        sent.push(one)
        return {
          _tag: "Span",
          name,
          spanId: `span-${sent.length}`,
          traceId: "trace",
          parent,
          context,
          status: { _tag: "Started", startTime: 0n },
          attributes: new Map(),
          links,
          sampled: true,
          kind,
          end: (_, exit) => void (one.exit = exit),
          attribute: (key, value) => void (one.attributes[key] = value),
          event: () => expect.fail("events are not exported"),
          addLinks: () => undefined
        }
      },
      context: (run) => run()
    })
    const exportSpan = makeExportSpan(exporting)
    const native = yield* Effect.tracer
    const tracer = Tracer.make({
      span: (...span) => exportSpan(...span) ?? native.span(...span),
      context: (run) => run()
    })
    yield* Effect.exit(Effect.withTracer(effect, tracer))
    return sent
  })

const rendered = (exit: Exit.Exit<unknown, unknown> | undefined) =>
  exit === undefined || Exit.isSuccess(exit) ? "" : Cause.pretty(exit.cause, { renderErrorCause: true })

describe("exported spans", () => {
  it.effect("are those of runs and of requests that change something", () =>
    Effect.gen(function*() {
      const inner = Effect.withSpan(Effect.void, "deploy.upload")
      expect(yield* sentBy(Effect.withSpan(inner, "http.server GET"))).toEqual([])
      expect(yield* sentBy(inner)).toEqual([])
      expect(yield* sentBy(Effect.withSpan(inner, "http.server POST"))).toMatchObject([
        { name: "http.server POST", parent: undefined },
        { name: "deploy.upload", parent: "span-1" }
      ])
      // A run that begins in the background.
      expect(yield* sentBy(Effect.withSpan(Effect.withSpan(inner, "run.deploy-all"), "recover"))).toMatchObject([
        { name: "run.deploy-all", parent: undefined },
        { name: "deploy.upload", parent: "span-1" }
      ])
    }))

  it.effect("carry no text of users, servers and upstreams", () =>
    Effect.gen(function*() {
      const secret = "canary"
      const failing = Effect.gen(function*() {
        yield* Effect.annotateCurrentSpan({ "url.full": `https://a.test/?t=${secret}`, "http.route": "/api/x" })
        yield* Effect.logError(`It says ${secret}`)
        return yield* new Refused({ message: `No: ${secret}` })
      }).pipe(
        Effect.withSpan(`step.${secret}`, { attributes: { what: secret } }),
        Effect.withSpan(`what ${secret} is`),
        Effect.withSpan("http.server POST")
      )
      const sent = yield* sentBy(failing)
      expect(sent.map(({ name }) => name)).toEqual(["http.server POST", "other", "step.other"])
      expect(sent[2]?.attributes).toEqual({ "http.route": "/api/x" })
      for (const { exit } of sent) expect(rendered(exit)).toBe("Refused: Refused")
      const thrown = yield* sentBy(Effect.withSpan(Effect.die(new TypeError(secret)), "run.deploy"))
      expect(rendered(thrown[0]?.exit)).toBe("TypeError: TypeError")
      expect(rendered((yield* sentBy(Effect.withSpan(Effect.die({ _tag: `${secret} x` }), "run.deploy")))[0]?.exit))
        .toBe("Error: Error")
      expect(JSON.stringify(sent)).not.toContain(secret)
    }))

  it.effect("end as their run does, which does not fail its span", () =>
    Effect.gen(function*() {
      const ended = (end: string) => sentBy(Effect.withSpan(Effect.annotateCurrentSpan("run.end", end), "run.deploy"))
      expect(rendered((yield* ended("failed"))[0]?.exit)).toBe("failed: failed")
      expect((yield* ended("succeeded"))[0]?.exit).toEqual(Exit.void)
    }))

  it.effect("take a caller's trace only where its ids are ones", () =>
    Effect.gen(function*() {
      const called = (traceId: string, spanId: string) =>
        sentBy(
          Effect.withSpan(Effect.void, "http.server POST", { parent: Tracer.externalSpan({ traceId, spanId }) })
        )
      expect((yield* called("a".repeat(32), "b".repeat(16)))[0]?.parent).toBe("b".repeat(16))
      expect((yield* called("canary", "b".repeat(16)))[0]?.parent).toBeUndefined()
    }))
})
