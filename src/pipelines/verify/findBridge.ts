import { Path } from "@effect/platform"
import { Array, Effect, Option } from "effect"
import { type BridgeNote, parseBridgeNote, showBridges } from "../../remote/bridge/bridgeCommand.ts"
import { execute } from "../../remote/execute.ts"
import { parseStackPath } from "../../schema/servers/RemotePath.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { readAddresses } from "../bridge/readProxyView.ts"
import { readContainerConfig } from "../projects/files/containerConfig.ts"
import { listDeclaredTargets, resolveRemotePath } from "../projects/inspectProject.ts"
import type { ProxyLocation } from "../routes/proxyLocation.ts"

/** Places of a project: those in its `container.json`, else every server with one of these addresses. */
const placesOf = (projectPath: string, home: ProxyLocation, hosts: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const config = yield* readContainerConfig(projectPath)
    const name = (yield* Path.Path).basename(projectPath)
    const named = listDeclaredTargets(config, name)
    if (named.length > 0) return named
    const remotePath = resolveRemotePath(config, name)
    if (typeof config.serverId === "string" && config.serverId !== "") {
      return [{ serverId: config.serverId, remotePath }]
    }
    const found = yield* Effect.filter(
      yield* (yield* Settings).servers,
      (server) => Effect.map(readAddresses(server, home, []), (own) => own.some((host) => hosts.includes(host)))
    )
    return found.map(({ id }) => ({ serverId: id, remotePath }))
  })

/** Reads the note about bridges at a place; none if it cannot be read. */
const noteAt = ({ remotePath, serverId }: { readonly serverId: string; readonly remotePath: string }) =>
  Effect.gen(function*() {
    const path = yield* parseStackPath("remotePath", remotePath)
    const access = yield* (yield* Settings).server(serverId)
    const { stdout } = yield* execute(access, showBridges(path))
    return parseBridgeNote(stdout)
  }).pipe(Effect.orElseSucceed(() => Option.none<BridgeNote>()))

/**
 * Finds the run whose bridge replaces a port of a project, as recorded on the bridge's server.
 * @param targets targets of a route, as `host:port` in lower case; all of them must belong to that bridge
 */
export const findBridge = (projectPath: string, port: number, home: ProxyLocation, targets: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const hosts = targets.map((target) => target.replace(/:\d+$/, ""))
    const notes = yield* Effect.forEach(yield* placesOf(projectPath, home, hosts), noteAt, { concurrency: 4 })
    return Array.findFirst(Array.getSomes(notes), ({ bridges, proxy }) => {
      const ports = bridges.filter((bridge) => bridge.port === port).map(({ bridgePort }) => bridgePort)
      const own: ReadonlyArray<string> = Option.match(proxy, {
        onNone: () => [],
        onSome: (edited) =>
          edited.file === home.file ? edited.hosts.flatMap((host) => ports.map((each) => `${host}:${each}`)) : []
      })
      return targets.every((target) => own.includes(target))
    })
  }).pipe(
    Effect.map(Option.map(({ run }) => run)),
    // Without the note, the actual target of the route counts.
    Effect.orElseSucceed(() => Option.none<string>()),
    Effect.withSpan("verify.findBridge")
  )
