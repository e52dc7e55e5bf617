import { Context, Effect, ExecutionStrategy, Exit, Layer, Option, Redacted, Scope, Tracer } from "effect"
import type { Post } from "../notify/Post.ts"
import type { Instance } from "../runs/Runs.ts"
import { Settings } from "../settings/Settings.ts"
import type { ExportSpan } from "./export.ts"

const pause = "10 seconds"

/**
 * Exports spans and metrics to the collector of the setting `telemetry.otlp`; without it, the exporter is not loaded.
 */
export class Telemetry extends Context.Tag("berth/Telemetry")<Telemetry, {
  readonly tracer: Tracer.Tracer
  /**
   * Follows the settings until the scope closes; the first requests are already traced.
   * @param measure updates the gauges before each export
   */
  readonly serve: <R>(measure: Effect.Effect<void, never, R>) => Effect.Effect<void, never, R | Scope.Scope>
}>() {}

interface Target {
  readonly url: string
  readonly headers: string
}

interface Exporting {
  readonly target: Target
  readonly scope: Scope.CloseableScope
  readonly exportSpan: ExportSpan
}

const isSame = (one: Target | undefined, other: Target | undefined) =>
  one?.url === other?.url && one?.headers === other?.headers

const make = Effect.gen(function*() {
  const settings = yield* Settings
  const context = yield* Effect.context<Instance | Post>()
  const scope = yield* Effect.scope
  const native = yield* Effect.tracer
  let current: Exporting | undefined

  const wanted = Effect.gen(function*() {
    const { find } = yield* settings.now
    const url = yield* find("telemetry.otlp")
    const headers = yield* find("telemetry.headers")
    return Option.getOrUndefined(Option.map(url, (url): Target => ({
      url,
      headers: Option.match(headers, { onNone: () => "", onSome: Redacted.value })
    })))
  })
  const close = Effect.suspend(() => {
    const closed = current
    current = undefined
    return closed === undefined ? Effect.void : Scope.close(closed.scope, Exit.void)
  })
  const open = (target: Target) =>
    Effect.gen(function*() {
      const { openExporter } = yield* Effect.promise(() => import("./export.ts"))
      const opened = yield* Scope.fork(scope, ExecutionStrategy.parallel)
      current = { target, scope: opened, exportSpan: yield* Scope.extend(openExporter(target), opened) }
    }).pipe(Effect.provide(context))
  const follow = Effect.gen(function*() {
    const target = yield* wanted
    if (isSame(current?.target, target)) return
    yield* close
    if (target !== undefined) yield* open(target)
  }).pipe(Effect.uninterruptible)

  return Telemetry.of({
    tracer: Tracer.make({
      span: (...span) => current?.exportSpan(...span) ?? native.span(...span),
      context: (run, fiber) => native.context(run, fiber)
    }),
    serve: (measure) =>
      Effect.ignore(follow).pipe(
        Effect.zipLeft(Effect.forkScoped(
          Effect.when(measure, () => current !== undefined).pipe(
            Effect.zipRight(Effect.sleep(pause)),
            // While the settings cannot be read, the last ones apply.
            Effect.zipRight(Effect.ignore(follow)),
            Effect.forever
          )
        ))
      )
  })
})

export const TelemetryLive: Layer.Layer<Telemetry, never, Instance | Post | Settings> = Layer.scoped(Telemetry, make)
