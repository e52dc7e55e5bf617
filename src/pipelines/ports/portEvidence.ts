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

/** The ports that the `.env` files directly in the projects name, deployed or not. */
const projectUses = Effect.gen(function*() {
  const files = yield* LocalFiles
  const root = yield* (yield* Settings).get("projects.root")
  if (Option.isNone(yield* files.find(root))) return { uses: [], unread: [] } satisfies PortUses
  const directories = (yield* files.list(root)).filter(({ kind }) => kind === "directory" || kind === "link")
  const found = yield* Effect.forEach(directories, ({ name }) => usesOfProject(root)(name), { concurrency: 16 })
  return mergePortUses(found)
}).pipe(Effect.catchAll(reportUnreadUses("The projects' ports are")))

/** The ports that programs of the proxy's server listen on, and that Docker publishes there. */
const serverUses = Effect.gen(function*() {
  const { server } = yield* proxyLocation
  const { stdout } = yield* execute(server, portsCommand(server.useSudo), { timeout: "30 seconds" })
  const { ports, unread } = parsePorts(stdout)
  return { uses: ports, unread: unread.map((what) => `The ports in use on "${server.name}" are unknown: ${what}`) }
}).pipe(Effect.catchAll(reportUnreadUses("The ports in use on the proxy's server are")))

/** Deadline of one source: a server that hangs must not hide the ports of the others. */
const timeLimit = "8 seconds"

const inTime = Effect.timeoutFail({
  duration: timeLimit,
  onTimeout: () => ({ _tag: "Late" as const, message: `no answer within ${timeLimit}` })
})

/** Every used port with what takes it, each use told once. */
const evidenceOf = (ports: ReadonlyArray<number>, uses: ReadonlyArray<PortUse & { readonly port: number }>) => {
  // A server may tell of every port there is: nothing here goes over all uses again for each of them.
  const usesOf = new Map(ports.map((port) => [port, new Map<string, PortUse>()]))
  for (const { kind, port, what } of uses) usesOf.get(port)?.set(`${kind} ${what}`, { kind, what })
  return Array.fromIterable(usesOf).map(([port, usedBy]) => ({ port, usedBy: [...usedBy.values()] }))
}

/**
 * The ports in use with what takes each, and the next one that nothing takes. Besides what `nextPort` counts, sockets
 * and containers of the proxy's server count, and the `.env` files of projects. The next port still comes after those of
 * applications and routes: what merely listens somewhere high up does not move it. What cannot be read is said.
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
