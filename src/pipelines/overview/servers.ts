import { Clock, Effect, Either, Option, Ref } from "effect"
import {
  overviewCommand,
  overviewExit,
  parseDisks,
  parseOverview,
  parseUsage,
  type ReportedStack
} from "../../remote/server.ts"
import type { ObservedServer } from "../../schema/overview.ts"
import { ProxyFileUnfit } from "../../schema/routes.ts"
import type { Server } from "../../schema/servers.ts"
import { scrubSecrets, Settings } from "../../services/settings/Settings.ts"
import { makeCommandFailed, Ssh } from "../../services/ssh/Ssh.ts"
import { readAddresses } from "../bridge/rollout.ts"
import { proxyLocation, readProxyText, toProxyFileError } from "../routes/proxyFile.ts"
import { readProxy } from "../routes/proxyText.ts"
import { readRoutes } from "../routes/queryProxy.ts"
import { describeDockerRefusal } from "../servers/servers.ts"

/** End of an overview's observations in milliseconds since 1970, and the time limit of a single one. */
export interface Deadline {
  readonly at: number
  readonly millis: number
}

const seconds = (millis: number) => `${Math.max(0, Math.round(millis / 100) / 10)} s`

/**
 * Observes something, or returns `late` with the reason if that takes too long. A hanging effect is interrupted in the
 * background.
 */
export const withinDeadline = <A, E, R>(
  { at, millis }: Deadline,
  observed: Effect.Effect<A, E, R>,
  late: (reason: string) => A
): Effect.Effect<A, E, R> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const limit = Math.min(millis, at - now)
    return limit <= 0
      ? Effect.sync(() => late("not asked: too many others did not answer in time"))
      : Effect.disconnect(observed).pipe(
        Effect.timeoutTo({
          duration: limit,
          onSuccess: (answer) => answer,
          onTimeout: () => late(`no answer within ${seconds(limit)}`)
        })
      )
  })

/** Servers queried concurrently. */
const serversAtOnce = 16

/** Deadline of one server, in milliseconds. */
const hurriedWait = 2_000
const longestError = 1_000

/** A server with its view of the stack at a remote path; undefined if it did not answer. */
export interface ServerObservation {
  readonly server: ObservedServer
  readonly stackAt: ((remotePath: string) => ReportedStack) | undefined
}

/** Servers that did not answer last time; they are queried after the others. */
export type SilentServers = Ref.Ref<ReadonlySet<string>>

const ask = ({ id, name }: Server, paths: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const start = yield* Clock.currentTimeMillis
    const observedAt = new Date(start).toISOString()
    const outcome = yield* Effect.either(Effect.gen(function*() {
      const access = yield* (yield* Settings).server(id)
      const command = overviewCommand(paths, access.useSudo)
      const exit = yield* (yield* Ssh).exec(access, command)
      return { access, command, exit }
    }))
    const latencyMs = Math.round((yield* Clock.currentTimeMillis) - start)
    const printed = Either.isLeft(outcome) ? "" : outcome.right.exit.stdout
    const usage = { disks: parseDisks(printed), ...parseUsage(printed) }
    const seen = (answers: boolean, error: string): Effect.Effect<ServerObservation, never, Settings> =>
      Effect.map(scrubSecrets(error.slice(0, longestError)), (error) => ({
        server: { id, name, answers, latencyMs: answers ? latencyMs : null, ...usage, observedAt, error },
        stackAt: undefined
      }))
    if (Either.isLeft(outcome)) {
      return yield* seen(outcome.left._tag === "RemoteOutputTooLong", outcome.left.message)
    }
    const { access, command, exit } = outcome.right
    if (exit.code === overviewExit.noDocker) return yield* seen(true, describeDockerRefusal(exit.stderr.trim(), access))
    if (exit.code !== 0) return yield* seen(true, makeCommandFailed(access, command, exit.code, exit.stderr).message)
    const sight: ServerObservation = {
      server: { id, name, answers: true, latencyMs, ...usage, observedAt },
      stackAt: parseOverview(exit.stdout, paths)
    }
    return sight
  })

/**
 * Queries each server once for its stacks, at most 16 concurrently. Servers that hung last time come last, so that they
 * do not delay the others. `pathsOf` returns the remote paths to query by name.
 */
export const observeServers = (
  servers: ReadonlyArray<Server>,
  pathsOf: (id: string) => ReadonlyArray<string>,
  deadline: number,
  silent: SilentServers
) =>
  Effect.gen(function*() {
    const before = yield* Ref.get(silent)
    const isSilent = ({ id }: Server) => before.has(id)
    const inTurn = [...servers.filter((server) => !isSilent(server)), ...servers.filter(isSilent)]
    const sights = yield* Effect.forEach(inTurn, (server) => {
      const hurries = servers.length > serversAtOnce && !isSilent(server)
      const limit: Deadline = { at: deadline, millis: hurries ? hurriedWait : Number.POSITIVE_INFINITY }
      return Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const observedAt = new Date(now).toISOString()
        const { id, name } = server
        return withinDeadline(limit, ask(server, pathsOf(id)), (error): ServerObservation => ({
          server: { id, name, answers: false, latencyMs: null, disks: [], observedAt, error },
          stackAt: undefined
        }))
      })
    }, { concurrency: serversAtOnce })
    yield* Ref.set(silent, new Set(sights.filter(({ server }) => !server.answers).map(({ server }) => server.id)))
    const byId = new Map(sights.map((sight) => [sight.server.id, sight]))
    return servers.flatMap(({ id }) => byId.get(id) ?? [])
  }).pipe(Effect.withSpan("overview.observeServers"))

/** A route that the proxy ignores, or the proxy file itself if it cannot be parsed. */
export interface BrokenRoute {
  readonly name: string
  readonly reason: string
}

/** A domain and the target of its route as host:port. */
export interface RoutedDomain {
  readonly domain: string
  readonly target: string
}

/** Broken routes, and the targets of all routed domains. */
export interface ObservedRoutes {
  readonly broken: ReadonlyArray<BrokenRoute>
  readonly routed: ReadonlyArray<RoutedDomain>
  /** Addresses that refer to a server in the proxy file, by server id. */
  readonly hosts: ReadonlyMap<string, ReadonlyArray<string>>
}

const nothing: ObservedRoutes = { broken: [], routed: [], hosts: new Map() }

const loopbacks = ["127.0.0.1", "::1", "localhost"]

const observed = Effect.gen(function*() {
  if (Option.isNone(yield* (yield* Settings).find("proxy.configFile"))) return nothing
  const home = yield* proxyLocation
  const text = yield* readProxyText(home)
  const routes = text.trim() === "" ? [] : readRoutes(yield* Either.mapLeft(readProxy(text), toProxyFileError(home)))
  const broken = routes.flatMap(({ missingMiddlewares, routeName, targets }): ReadonlyArray<BrokenRoute> => {
    if (targets.length === 0) return [{ name: routeName, reason: "leads to no service of the proxy file" }]
    return missingMiddlewares.length === 0
      ? []
      : [{ name: routeName, reason: `lacks in the proxy file: ${missingMiddlewares.join(", ")}` }]
  })
  const routed = routes.flatMap(({ domains, targets }) =>
    domains.flatMap((domain) => targets.map((target): RoutedDomain => ({ domain, target })))
  )
  const hosts = yield* Effect.forEach(
    yield* (yield* Settings).servers,
    (server) => Effect.map(readAddresses(server, home, loopbacks), (addresses) => [server.id, addresses] as const)
  )
  return { broken, routed, hosts: new Map(hosts) } satisfies ObservedRoutes
})

/** Reads the routes of the proxy file. An unreadable file is reported with its server or the applications. */
export const observeRoutes = (deadline: number) =>
  withinDeadline(
    { at: deadline, millis: Number.POSITIVE_INFINITY },
    observed.pipe(
      Effect.catchAll((error) =>
        error instanceof ProxyFileUnfit
          ? Effect.map(
            scrubSecrets(error.message),
            (reason): ObservedRoutes => ({ ...nothing, broken: [{ name: "The proxy file", reason }] })
          )
          : Effect.succeed(nothing)
      )
    ),
    () => nothing
  ).pipe(Effect.withSpan("overview.observeRoutes"))
