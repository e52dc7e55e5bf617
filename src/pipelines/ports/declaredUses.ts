import { Effect, Option } from "effect"
import type { PlatformRecord } from "../../schema/applications/PlatformApp.ts"
import { Disclosed } from "../../schema/basics/Disclosed.ts"
import { HostPortHidden, type PortUse } from "../../schema/routes/Route.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { findHostPort } from "../applications/hostPort.ts"
import { readProxyText } from "../routes/proxyFile.ts"
import { proxyLocation } from "../routes/proxyLocation.ts"
import { listProxyTargets } from "./usedPorts.ts"

/** A port in use, and its user. */
export interface UsedPort extends PortUse {
  readonly port: number
}

/** Ports in use, with warnings about sources that could not be read. */
export interface PortUses {
  readonly uses: ReadonlyArray<UsedPort>
  readonly unread: ReadonlyArray<string>
}

/** Result of a source that cannot be read: no ports, and a warning. */
export const reportUnreadUses = (what: string) => ({ message }: { readonly message: string }) =>
  Effect.succeed<PortUses>({ uses: [], unread: [`${what} unknown: ${message}`] })

export const mergePortUses = (all: ReadonlyArray<PortUses>): PortUses => ({
  uses: all.flatMap(({ uses }) => uses),
  unread: all.flatMap(({ unread }) => unread)
})

export const highestPort = 65535

/** Parses the leading integer of a value; empty if it is not a port. */
export const parsePortPrefix = (value: string): ReadonlyArray<number> => {
  const port = Number.parseInt(value, 10)
  return port >= 1 && port <= highestPort ? [port] : []
}

/** Port of an application. Ignores an application whose variables cannot be read; fails if the port is hidden. */
const usesOfApp = ({ name, uuid }: PlatformRecord) =>
  Effect.gen(function*() {
    const platform = yield* Platform
    const port = findHostPort(yield* platform.envs(uuid))
    if (Option.isNone(port)) return { uses: [], unread: [] }
    const text = yield* Disclosed.$match(port.value.value, {
      Known: ({ value }) => Effect.succeed(value),
      Absent: () => Effect.succeed(""),
      Hidden: ({ reason }) => new HostPortHidden({ app: name, reason })
    })
    return { uses: parsePortPrefix(text).map((port): UsedPort => ({ port, kind: "variable", what: name })), unread: [] }
  }).pipe(
    Effect.catchIf(
      (error) => error._tag !== "HostPortHidden",
      reportUnreadUses(`The port of "${name}" is`)
    )
  )

/** The ports of the platform's applications. */
export const variableUses = Effect.gen(function*() {
  const platform = yield* Platform
  const apps = yield* platform.applications
  return mergePortUses(yield* Effect.forEach(apps, usesOfApp, { concurrency: 16 }))
}).pipe(
  Effect.catchIf((error) => error._tag !== "HostPortHidden", reportUnreadUses("The applications' ports are"))
)

/** Ports that the proxy file forwards requests to. */
export const routeUses = Effect.gen(function*() {
  const settings = yield* Settings
  const subnet = yield* settings.find("proxy.subnet")
  const text = yield* readProxyText(yield* proxyLocation)
  const uses = listProxyTargets(text, Option.getOrUndefined(subnet)).map(({ port, url }): UsedPort => ({
    port,
    kind: "route",
    what: url
  }))
  return { uses, unread: [] }
}).pipe(Effect.catchAll(reportUnreadUses("The proxy's ports are")))
