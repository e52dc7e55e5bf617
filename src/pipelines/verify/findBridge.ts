import { Path } from "@effect/platform"
import { Array, Effect, Option } from "effect"
import { parseBridgeNote, showBridges } from "../../remote/bridge/bridgeCommand.ts"
import { execute } from "../../remote/execute.ts"
import { stackPathIn } from "../../schema/servers/RemotePath.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { addressesOf } from "../bridge/readProxyView.ts"
import { readContainerConfig } from "../projects/files/containerConfig.ts"
import { remotePathOf } from "../projects/inspectProject.ts"
import type { ProxyHome } from "../routes/proxyHome.ts"

/** Servers that a project may be on: the one of its `container.json`, or else each that has one of these addresses. */
const serversOf = (serverId: string | null | undefined, home: ProxyHome, hosts: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const settings = yield* Settings
    if (typeof serverId === "string" && serverId !== "") return [serverId]
    const stored = yield* settings.servers
    const found = yield* Effect.filter(
      stored,
      (server) => Effect.map(addressesOf(server, home, []), (own) => own.some((host) => hosts.includes(host)))
    )
    return found.map(({ id }) => id)
  })

/**
 * Finds the run whose bridge stands in for a port of a project, as the server of the bridge has noted it.
 * @param targets where a route leads, as `host:port` in lower case: all of them are to be of that bridge
 */
export const findBridge = (projectPath: string, port: number, home: ProxyHome, targets: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const settings = yield* Settings
    const config = yield* readContainerConfig(projectPath)
    const remotePath = yield* stackPathIn("remotePath", remotePathOf(config, (yield* Path.Path).basename(projectPath)))
    const hosts = targets.map((target) => target.replace(/:\d+$/, ""))
    const notes = yield* Effect.forEach(
      yield* serversOf(config.serverId, home, hosts),
      (id) =>
        Effect.flatMap(
          settings.server(id),
          (server) => Effect.map(execute(server, showBridges(remotePath)), ({ stdout }) => parseBridgeNote(stdout))
        )
    )
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
    // Without the note, what the route leads to counts.
    Effect.orElseSucceed(() => Option.none<string>()),
    Effect.withSpan("verify.findBridge")
  )
