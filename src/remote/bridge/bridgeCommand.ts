import { Array, Option } from "effect"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script } from "./bridge.sh.ts"

/** A second container of a service that takes its requests while it is recreated. */
export interface Bridge {
  readonly service: string
  /** Name of the container. */
  readonly name: string
  /** Port of the server that the service publishes. */
  readonly port: number
  /** Port of the server that the bridge publishes. */
  readonly bridgePort: number
}

/** Proxy file of an edit: the server that holds it as `host:port` of its SSH server, and the path. */
export interface NotedProxyFile {
  readonly server: string
  readonly file: string
}

/** A proxy file, and the addresses that mean the server of the bridges there. */
export interface EditedProxy extends NotedProxyFile {
  readonly hosts: ReadonlyArray<string>
}

/** Bridges of a run as its server has noted them. */
export interface BridgeNote {
  readonly run: string
  readonly bridges: ReadonlyArray<Bridge>
  /** Proxy file that was edited for them; none where no edit was begun. */
  readonly proxy: Option.Option<EditedProxy>
}

const command = (what: string, action: string, sudo: boolean) =>
(
  remotePath: string,
  run: string,
  ...more: ReadonlyArray<string>
): RemoteCommand => ({
  what,
  script,
  args: [remotePath, run, action, ...more],
  sudo
})

/** Proxy file of the next edits. */
export interface NextEdited extends EditedProxy {
  /** Seconds in which the proxy follows its file, where the server of the bridges holds that: its own script leads back. */
  readonly settleSeconds: Option.Option<number>
}

/** Notes the proxy file before its first edit; fails once the server has taken the bridges back. */
export const noteSwitch = (remotePath: string, run: string, edited: NextEdited, sudo: boolean) => {
  const settle = Option.match(edited.settleSeconds, { onNone: () => "", onSome: String })
  return command("noting the bridge", "switch", sudo)(
    remotePath,
    run,
    edited.server,
    edited.hosts.join(","),
    edited.file,
    settle
  )
}

/** Lets an activation go on to its start; fails once the server has taken the bridges back. */
export const continueActivation = (remotePath: string, run: string) =>
  command("going on from the bridge", "go", false)(remotePath, run)

/** Has an activation that has not come to its start take everything back, now or as soon as it waits. */
export const abortActivation = (remotePath: string, run: string) =>
  command("taking the bridge back", "stop", false)(remotePath, run)

/** Prints the note about bridges once no activation is under way. */
export const readBridges = (remotePath: string) => command("reading the bridge's note", "read", false)(remotePath, "-")

/** Prints the note about bridges as it is now, also while an activation is under way. */
export const showBridges = (remotePath: string) => command("looking for a bridge", "show", false)(remotePath, "-")

/** Stops and removes the bridges of a run, and the note about them. */
export const removeBridges = (remotePath: string, run: string, sudo: boolean) =>
  command("removing the bridge", "remove", sudo)(remotePath, run)

/** Reads `bridge` lines; of several attempts for one container the last counts. */
export const parseBridges = (lines: ReadonlyArray<string>): ReadonlyArray<Bridge> => {
  const found = Array.filterMap(lines, (line) => {
    const [label, service = "", name = "", port = "", bridgePort = ""] = line.split("\t")
    return label === "bridge" && /^\d+$/.test(port) && /^\d+$/.test(bridgePort)
      ? Option.some({ service, name, port: Number(port), bridgePort: Number(bridgePort) })
      : Option.none()
  })
  return [...new Map(found.map((bridge) => [bridge.name, bridge])).values()]
}

/** Reads the answer of `readBridges`; none where nothing is noted. */
export const parseBridgeNote = (output: string): Option.Option<BridgeNote> => {
  const lines = output.split("\n")
  const run = lines.find((line) => line.startsWith("run\t"))?.slice("run\t".length)
  if (run === undefined || run === "") return Option.none()
  const [, server, hosts, ...file] = lines.findLast((line) => line.startsWith("proxy\t"))?.split("\t") ?? []
  const proxy = server === undefined || hosts === undefined || file.length === 0
    ? Option.none()
    : Option.some({ server, hosts: hosts.split(","), file: file.join("\t") })
  return Option.some({ run, bridges: parseBridges(lines), proxy })
}
