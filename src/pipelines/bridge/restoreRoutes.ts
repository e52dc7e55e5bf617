import { Data, Effect, Option, Schedule } from "effect"
import {
  type BridgeNote,
  type NotedProxyFile,
  parseBridgeNote,
  readBridges,
  removeBridges
} from "../../remote/bridge/bridgeCommand.ts"
import { execute } from "../../remote/execute.ts"
import { portOpenExit } from "../../remote/server/portOpenCommand.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import type { RemoteCommandFailed, SshError } from "../../schema/servers/Ssh.ts"
import { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { addServers, hasServer, type PortMove, removeServers } from "../routes/balancers.ts"
import { editProxyFile, type EditServices } from "../routes/editProxyFile.ts"
import { readProxyText } from "../routes/proxyFile.ts"
import { type ProxyLocation, proxyLocation } from "../routes/proxyLocation.ts"
import { tryPort } from "./tryPort.ts"

/** The requests could not be redirected back, so the bridges keep serving them. */
export class BridgeStays extends Data.TaggedError("BridgeStays")<{
  readonly bridges: BridgeNote["bridges"]
  readonly reason: string
}> {
  override get message() {
    const names = this.bridges.map(({ bridgePort, name }) => `${name} on port ${bridgePort}`).join(" and ")
    return `${names} still serves the requests, since they could not be led back: ${this.reason.replace(/\.$/, "")}. ` +
      "The next deploy tries again"
  }
}

/** Location of a proxy file as recorded in a note on a server. */
export const toNotedProxyFile = ({ file, server }: ProxyLocation): NotedProxyFile => ({
  file,
  server: `${server.host}:${server.port}`
})

/** Waits until the proxy has reloaded its file. */
export const awaitProxyReload = Effect.flatMap(
  Effect.flatMap(Settings, (settings) => settings.get("proxy.settle")),
  Effect.sleep
)

/** Edits the proxy file; after a change, waits until the proxy has reloaded it. */
export const moveServersInProxy = (edit: typeof addServers, moves: ReadonlyArray<PortMove>) =>
  Effect.gen(function*() {
    const { _tag } = yield* editProxyFile((text) => edit(text, moves))
    if (_tag === "Edited") yield* awaitProxyReload
    return _tag === "Edited"
  })

// A server that was rebooted starts its containers one after the other.
const startingUp = Schedule.intersect(Schedule.spaced("1 second"), Schedule.recurs(10))

/** Retries for a minute while the file is locked or a server is unreachable. */
const patience = Schedule.intersect(Schedule.spaced("5 seconds"), Schedule.recurs(12))

class PortClosed extends Data.TaggedError("PortClosed") {}

/** A service that gets its requests back, at its own port. */
interface ReturnMove extends PortMove {
  readonly service: string
}

/** True if the proxy's server still cannot connect to a port after a service had time to start. */
const isClosed = (home: ProxyLocation, host: string, port: number) =>
  Effect.flatMap(tryPort(home, host, port), (code) => code === portOpenExit.closed ? new PortClosed() : Effect.void)
    .pipe(
      Effect.retry({ schedule: startingUp, while: ({ _tag }) => _tag === "PortClosed" }),
      Effect.as(false),
      Effect.catchTag("PortClosed", () => Effect.succeed(true))
    )

/** Reason not to redirect the requests of bridges back: the ports of the services do not accept connections. */
const closedPort = (home: ProxyLocation, moves: ReadonlyArray<ReturnMove>) =>
  Effect.gen(function*() {
    const text = yield* readProxyText(home)
    const targets = moves.flatMap(({ from, hosts, service, to }) =>
      hosts.filter((host) => hasServer(text, [host], from)).map((host) => ({ host, service, to }))
    )
    const closed = yield* Effect.findFirst(targets, ({ host, to }) => isClosed(home, host, to))
    return Option.map(closed, ({ host, service, to }) =>
      `port ${to} of ${host}, seen from "${home.server.name}", does not accept connections: the service ${service} has left it`)
  })

/** Redirects the requests of a recorded switch back to the services. */
const restoreNotedRoutes = (
  { bridges }: BridgeNote,
  noted: NotedProxyFile & { readonly hosts: ReadonlyArray<string> }
) =>
  Effect.gen(function*() {
    const stays = (reason: string) => new BridgeStays({ bridges, reason })
    const home = yield* proxyLocation
    const place = toNotedProxyFile(home)
    if (place.file !== noted.file || place.server !== noted.server) {
      return yield* stays(`they were led there in ${noted.file} on ${noted.server}, which is not the proxy file here`)
    }
    const moves = bridges.map(({ bridgePort, port, service }) => ({
      hosts: noted.hosts,
      service,
      from: bridgePort,
      to: port
    }))
    const closed = yield* closedPort(home, moves)
    if (Option.isSome(closed)) return yield* stays(closed.value)
    yield* moveServersInProxy(addServers, moves)
    yield* moveServersInProxy(removeServers, moves)
    const text = yield* readProxyText(home)
    if (moves.some(({ from, hosts }) => hasServer(text, hosts, from))) {
      return yield* stays(`${home.file} still leads to the bridge`)
    }
  })

/** Bridges that were removed after their requests were redirected back. */
export type RestoredRoutes = BridgeNote["bridges"]

/**
 * Redirects the requests back from the bridges recorded on a server and removes them, once no activation of the path is
 * running. Idempotent from any intermediate state; does nothing without a record.
 * @param run limits this to the bridges of one run; without it, those of any run
 */
export const restoreRoutes = Effect.fn("bridge.restoreRoutes")(function*(
  server: ServerAccess,
  remotePath: string,
  run?: string
): Effect.fn.Return<RestoredRoutes, BridgeStays | RemoteCommandFailed | SshError, EditServices> {
  const noted = yield* readNote(server, remotePath, run)
  if (Option.isNone(noted)) return []
  const note = noted.value
  if (Option.isSome(note.proxy)) {
    yield* restoreNotedRoutes(note, note.proxy.value).pipe(
      Effect.retry({ schedule: patience, while: (error) => error._tag !== "BridgeStays" }),
      Effect.mapError((error) =>
        error instanceof BridgeStays ? error : new BridgeStays({ bridges: note.bridges, reason: error.message })
      )
    )
  }
  yield* execute(server, removeBridges(remotePath, note.run, server.useSudo), { timeout: "10 minutes" })
  return note.bridges
})

/** Reads the note about bridges, once no activation of the path is running. */
export const readNote = (
  server: ServerAccess,
  remotePath: string,
  run?: string
): Effect.Effect<Option.Option<BridgeNote>, RemoteCommandFailed | SshError, Ssh> =>
  Effect.map(
    execute(server, readBridges(remotePath), { timeout: "6 minutes" }),
    ({ stdout }) => Option.filter(parseBridgeNote(stdout), (note) => run === undefined || note.run === run)
  )

/** Describes bridges as the outcome of a step. */
export const describeRestoredRoutes = (bridges: RestoredRoutes): string =>
  bridges.length === 0 ? "no bridge" : bridges.map(({ port, service }) => `${service} on port ${port}`).join(", ")
