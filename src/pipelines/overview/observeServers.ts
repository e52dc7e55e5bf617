import { Clock, Effect, Either, Ref } from "effect"
import { makeCommandFailed } from "../../remote/execute.ts"
import {
  overviewCommand,
  overviewExit,
  parseDisks,
  parseOverview,
  parseUsage,
  type ReportedStack
} from "../../remote/server/overviewCommand.ts"
import type { ObservedServer } from "../../schema/Overview.ts"
import type { Server } from "../../schema/servers/Server.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import { describeDockerRefusal } from "../servers/describeDockerRefusal.ts"
import { type Deadline, withinDeadline } from "./withinDeadline.ts"

/** Servers queried concurrently. */
export const serversAtOnce = 16

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
