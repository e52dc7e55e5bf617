import { Array, Option } from "effect"
import type { RemoteCommand } from "../services/ssh/Ssh.ts"
import { script } from "./bridge/bridge.sh.ts"

/** A temporary container that takes the requests of a service while this is recreated. */
export interface Bridge {
  readonly service: string
  /** Name of the container. */
  readonly name: string
  /** Server port that the service publishes. */
  readonly port: number
  /** Server port that the bridge publishes. */
  readonly bridgePort: number
}

/** Location of a proxy file: its path, and its server as `host:port` of SSH. */
export interface NotedProxyFile {
  readonly server: string
  readonly file: string
}

/** A proxy file, and the addresses that refer to the bridges' server in it. */
interface EditedProxy extends NotedProxyFile {
  readonly hosts: ReadonlyArray<string>
}

/** Bridges of a run as recorded on their server. */
export interface BridgeNote {
  readonly run: string
  readonly bridges: ReadonlyArray<Bridge>
  /** Proxy file that was edited for them; none if no edit was started. */
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

/** Proxy file to be edited next. */
interface NextEdited extends EditedProxy {
  /**
   * Seconds in which the proxy reloads its file, if the file is on the bridges' server, whose own script can then
   * redirect the requests back.
   */
  readonly settleSeconds: Option.Option<number>
}

/** Records the proxy file before its first edit; fails if the server has already removed the bridges. */
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

/** Lets an activation continue with its start; fails if the server has already removed the bridges. */
export const continueActivation = (remotePath: string, run: string) =>
  command("going on from the bridge", "go", false)(remotePath, run)

/** Makes an activation that has not reached its start undo everything, now or as soon as it waits. */
export const abortActivation = (remotePath: string, run: string) =>
  command("taking the bridge back", "stop", false)(remotePath, run)

/** Prints the note about bridges once no activation is running. */
export const readBridges = (remotePath: string) => command("reading the bridge's note", "read", false)(remotePath, "-")

/** Prints the current note about bridges, even while an activation is running. */
export const showBridges = (remotePath: string) => command("looking for a bridge", "show", false)(remotePath, "-")

/** Stops and removes the bridges of a run, and the note about them. */
export const removeBridges = (remotePath: string, run: string, sudo: boolean) =>
  command("removing the bridge", "remove", sudo)(remotePath, run)

/** Parses `bridge` lines; the last of several attempts for one container counts. */
export const parseBridges = (lines: ReadonlyArray<string>): ReadonlyArray<Bridge> => {
  const found = Array.filterMap(lines, (line) => {
    const [label, service = "", name = "", port = "", bridgePort = ""] = line.split("\t")
    return label === "bridge" && /^\d+$/.test(port) && /^\d+$/.test(bridgePort)
      ? Option.some({ service, name, port: Number(port), bridgePort: Number(bridgePort) })
      : Option.none()
  })
  return [...new Map(found.map((bridge) => [bridge.name, bridge])).values()]
}

/** Parses the answer of `readBridges`; none if nothing is recorded. */
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
