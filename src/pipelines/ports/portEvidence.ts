import { Path } from "@effect/platform"
import { Array, Effect, Option } from "effect"
import { execute } from "../../remote/execute.ts"
import { parsePorts, portsCommand } from "../../remote/server/portsCommand.ts"
import { hostPortKey } from "../../schema/applications/hostPortKey.ts"
import { type HostPortHidden, type NextPort, NoPortLeft, type PortUse } from "../../schema/routes/Route.ts"
import { LocalFiles } from "../../services/local/LocalFiles.ts"
import type { Platform } from "../../services/platform/Platform.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { withAnswerBudget } from "../../services/upstream/answerBudget.ts"
import { parseEnv, resolveEnvValues } from "../projects/compose/envText.ts"
import { readProjectText } from "../projects/files/readProjectText.ts"
import { proxyLocation } from "../routes/proxyLocation.ts"
import {
  highestPort,
  mergePortUses,
  parsePortPrefix,
  type PortUses,
  reportUnreadUses,
  routeUses,
  type UsedPort,
  variableUses
} from "./declaredUses.ts"
import { findPortAfter, listPortNumbers } from "./nextPort.ts"

const usesOfProject = (root: string) => (name: string) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const env = yield* readProjectText(path.join(root, name), ".env")
    const port = Option.match(env, {
      onNone: () => "",
      onSome: (text) => resolveEnvValues(parseEnv(text)).values.get(hostPortKey) ?? ""
    })
    const uses = parsePortPrefix(port).map((number): UsedPort => ({ port: number, kind: "project", what: name }))
    return { uses, unread: [] } satisfies PortUses
  }).pipe(Effect.catchAll(reportUnreadUses(`The port of the project ${name} is`)))

/** Ports in the `.env` files at the top level of the projects, deployed or not. */
const projectUses = Effect.gen(function*() {
  const files = yield* LocalFiles
  const root = yield* (yield* Settings).get("projects.root")
  if (Option.isNone(yield* files.find(root))) return { uses: [], unread: [] } satisfies PortUses
  const directories = (yield* files.list(root)).filter(({ kind }) => kind === "directory" || kind === "link")
  const found = yield* Effect.forEach(directories, ({ name }) => usesOfProject(root)(name), { concurrency: 16 })
  return mergePortUses(found)
}).pipe(Effect.catchAll(reportUnreadUses("The projects' ports are")))

/** Ports that programs on the proxy's server listen on, and that Docker publishes there. */
const serverUses = Effect.gen(function*() {
  const { server } = yield* proxyLocation
  const { stdout } = yield* execute(server, portsCommand(server.useSudo), { timeout: "30 seconds" })
  const { ports, unread } = parsePorts(stdout)
  return { uses: ports, unread: unread.map((what) => `The ports in use on "${server.name}" are unknown: ${what}`) }
}).pipe(Effect.catchAll(reportUnreadUses("The ports in use on the proxy's server are")))

/** Deadline of one source: a hanging server must not hide the ports of other sources. */
const timeLimit = "8 seconds"

const inTime = Effect.timeoutFail({
  duration: timeLimit,
  onTimeout: () => ({ _tag: "Late" as const, message: `no answer within ${timeLimit}` })
})

/** Every used port with its users, without duplicates. */
const evidenceOf = (ports: ReadonlyArray<number>, uses: ReadonlyArray<PortUse & { readonly port: number }>) => {
  // Indexed by port, because a server may report every port there is.
  const usesOf = new Map(ports.map((port) => [port, new Map<string, PortUse>()]))
  for (const { kind, port, what } of uses) usesOf.get(port)?.set(`${kind} ${what}`, { kind, what })
  return Array.fromIterable(usesOf).map(([port, usedBy]) => ({ port, usedBy: [...usedBy.values()] }))
}

/**
 * Ports in use with their users, and the next free one. In addition to `nextPort`, counts sockets and containers of the
 * proxy's server and the `.env` files of projects. The next port still follows those of applications and routes: a
 * listener on a high port does not move it. Unreadable sources are reported.
 */
export const portEvidence: Effect.Effect<
  NextPort,
  HostPortHidden | NoPortLeft,
  LocalFiles | Path.Path | Platform | Settings | Ssh
> = Effect.gen(function*() {
  const [ofApplications, ofRoutes, ofServer, ofProjects] = yield* Effect.all([
    variableUses.pipe(inTime, Effect.catchTag("Late", reportUnreadUses("The applications' ports are"))),
    routeUses.pipe(inTime, Effect.catchTag("Late", reportUnreadUses("The proxy's ports are"))),
    serverUses.pipe(inTime, Effect.catchTag("Late", reportUnreadUses("The ports in use on the proxy's server are"))),
    projectUses.pipe(inTime, Effect.catchTag("Late", reportUnreadUses("The projects' ports are")))
  ], { concurrency: "unbounded" })
  const { unread, uses } = mergePortUses([ofApplications, ofRoutes, ofServer, ofProjects])
  const used = listPortNumbers(uses)
  const isUsed = new Set(used)
  const first = yield* findPortAfter(listPortNumbers(mergePortUses([ofApplications, ofRoutes]).uses))
  const free = Array.findFirst(Array.range(first, highestPort), (port) => !isUsed.has(port))
  const warnings = yield* Effect.forEach(unread, (text) => scrubSecrets(text))
  return {
    nextPort: yield* Effect.mapError(free, () => new NoPortLeft({ highest: highestPort })),
    usedPorts: used,
    evidence: evidenceOf(used, uses),
    ...(warnings.length === 0 ? {} : { warnings })
  }
}).pipe(withAnswerBudget, Effect.withSpan("portEvidence"))
