import { Option } from "effect"
import type { ObservedServer, ServerDisk } from "../schema/overview.ts"
import { composeFileNames } from "../schema/projects.ts"
import type { DeployedProject } from "../schema/stacks.ts"
import { type AnswerLimit, makeLineLimit, mebibyte, type RemoteCommand } from "../services/ssh/Ssh.ts"
import { script } from "./server/overview.sh.ts"
import { script as portOpenScript } from "./server/portOpen.sh.ts"
import { script as portsScript } from "./server/ports.sh.ts"
import { script as readinessScript } from "./server/readiness.sh.ts"
import { script as scanScript } from "./server/scan.sh.ts"
import { parseContainerName } from "./stack.ts"

/** Exit code of `overviewCommand` if Docker cannot be used. */
export const overviewExit = { noDocker: 3 } as const

/** Reads the state of a server's stacks in one command. `paths` are remote paths without line breaks or NULs. */
export const overviewCommand = (paths: ReadonlyArray<string>, sudo: boolean): RemoteCommand => ({
  what: "looking at the stacks",
  script,
  args: [],
  stdin: paths.map((path) => `${path}\n`).join(""),
  sudo,
  limit: makeLineLimit(4, 20_000)
})

/** Stack at a remote path, as its server reported it. */
export interface ReportedStack {
  /** Status of each of its containers in Docker's format: `Up 3 hours (healthy)`. */
  readonly statuses: ReadonlyArray<string>
  /** Names of its containers, in the same order. */
  readonly names: ReadonlyArray<string>
  /** Ports of its running containers in Docker's format: `0.0.0.0:2000->3000/tcp`. */
  readonly ports: ReadonlyArray<string>
  /** Id of the current release; null if no deploy recorded one. */
  readonly release: string | null
}

const kinds = ["containers", "docker"] as const

const kibibytes = /^\d{1,15}$/

/** Parses the disks in the answer of `overviewCommand`, even if Docker cannot be used; each file system once. */
export const parseDisks = (output: string): ReadonlyArray<ServerDisk> => {
  const disks = new Map<string, ServerDisk>()
  const inodes = new Map(
    output.split("\n").flatMap((line) => {
      const [label, kind = "", total = "", free = ""] = line.split("\t")
      return label === "inodes" && kibibytes.test(total) && kibibytes.test(free)
        ? [[kind, { inodes: Number(total), freeInodes: Number(free) }] as const]
        : []
    })
  )
  for (const line of output.split("\n")) {
    const [label, kind = "", total = "", free = "", ...mount] = line.split("\t")
    const holds = kinds.find((known) => known === kind)
    if (label !== "disk" || holds === undefined || !kibibytes.test(total) || !kibibytes.test(free)) continue
    // The script reports each kind once.
    if ([...disks.values()].some((disk) => disk.holds.includes(holds))) continue
    const mountedOn = mount.join("\t").slice(0, 300)
    const before = disks.get(mountedOn)?.holds ?? []
    disks.set(mountedOn, {
      holds: [...new Set([...before, holds])],
      mountedOn,
      totalBytes: Number(total) * 1024,
      freeBytes: Number(free) * 1024,
      ...inodes.get(holds)
    })
  }
  return [...disks.values()]
}

const decimal = /^\d{1,6}(?:\.\d{1,6})?$/

/** Parses load and memory in the answer of `overviewCommand`; absent on a server without these files. */
export const parseUsage = (output: string): Pick<ObservedServer, "load" | "memory"> => {
  const fieldsOf = (kind: string) => output.split("\n").find((line) => line.startsWith(`${kind}\t`))?.split("\t") ?? []
  const [, minute = "", processors = ""] = fieldsOf("load")
  const [, total = "", free = ""] = fieldsOf("memory")
  return {
    ...decimal.test(minute) && decimal.test(processors) && Number(processors) > 0
      ? { load: { minute: Number(minute), processors: Number(processors) } }
      : {},
    ...kibibytes.test(total) && kibibytes.test(free)
      ? { memory: { totalBytes: Number(total) * 1024, freeBytes: Number(free) * 1024 } }
      : {}
  }
}

/** Valid id of a release, because the file may contain anything. */
const releaseId = /^[A-Za-z0-9][A-Za-z0-9._:+-]{0,99}$/

/**
 * Parses the answer of `overviewCommand`; returns a lookup of stacks by remote path, which also works for paths that
 * were not requested.
 */
export const parseOverview = (
  output: string,
  paths: ReadonlyArray<string>
): (remotePath: string) => ReportedStack => {
  let home = ""
  const containers = new Map<
    string,
    Array<{ readonly status: string; readonly name: string; readonly ports: string }>
  >()
  const releases = new Map<string, string>()
  const realPaths = new Map<string, string>()
  const linked = new Map<string, Array<string>>()
  for (const line of output.split("\n")) {
    const [kind = "", first = "", ...rest] = line.split("\t")
    const path = rest.join("\t")
    if (kind === "home") home = line.slice("home\t".length)
    else if (kind === "container") {
      const [ports = "", names = "", ...directory] = rest
      const path = directory.join("\t")
      const container = { status: first, name: parseContainerName(names), ports }
      const before = containers.get(path)
      if (before === undefined) containers.set(path, [container])
      else before.push(container)
    } else if (kind === "link") linked.set(first, [...linked.get(first) ?? [], path])
    else if (kind === "release" && releaseId.test(first)) releases.set(path, first)
    else if (kind === "asked") {
      const asked = paths[Number(first) - 1]
      if (asked !== undefined) realPaths.set(asked, path)
    }
  }
  return (remotePath) => {
    const named = remotePath.startsWith("~/") ? `${home}${remotePath.slice(1)}` : remotePath
    const real = realPaths.get(remotePath) ?? named
    // Compose 2 labels a container with the path by which it was called.
    const directories = [...new Set([named, real, ...linked.get(real) ?? []])]
    const found = directories.flatMap((directory) => containers.get(directory) ?? [])
    return {
      statuses: found.map(({ status }) => status),
      names: found.map(({ name }) => name),
      ports: found.flatMap(({ ports }) => ports.split(", ").filter((port) => port !== "")),
      release: directories.map((directory) => releases.get(directory)).find((release) => release !== undefined) ?? null
    }
  }
}

/** The exit codes of `portOpenCommand`. */
export const portOpenExit = { open: 0, closed: 1, untold: 2 } as const

/** Tries to connect to a port from a server, with any suitable program there. */
export const portOpenCommand = (host: string, port: number): RemoteCommand => ({
  what: `connecting to ${host}:${port}`,
  script: portOpenScript,
  args: [host, String(port)],
  sudo: false
})

/** A port in use on a server, and its user. */
interface ServerPort {
  readonly port: number
  readonly kind: "socket" | "container"
  /** Listening address, or the container's name. */
  readonly what: string
}

/** Users of ports on a server, and the sources that could not be read. */
interface ServerPorts {
  readonly ports: ReadonlyArray<ServerPort>
  readonly unread: ReadonlyArray<string>
}

/** Lists the addresses that programs of a server listen on, and the ports that Docker publishes there. */
export const portsCommand = (sudo: boolean): RemoteCommand => ({
  what: "listing the ports in use",
  script: portsScript,
  args: [],
  sudo
})

const bytes = (hex: string) => hex.match(/../g) ?? []

/** Reverses the bytes of each word, which the kernel prints in little-endian order. */
const kernelAddress = (hex: string): string => {
  if (hex.length === 8) return bytes(hex).toReversed().map((byte) => Number.parseInt(byte, 16)).join(".")
  const words = hex.match(/.{8}/g) ?? []
  const plain = words.map((word) => bytes(word).toReversed().join("")).join("").toLowerCase()
  const [, mapped] = /^0{20}ffff(.{8})$/.exec(plain) ?? []
  if (mapped !== undefined) return bytes(mapped).map((byte) => Number.parseInt(byte, 16)).join(".")
  if (/^0{31}[01]$/.test(plain)) return plain.endsWith("1") ? "[::1]" : "[::]"
  return `[${(plain.match(/.{4}/g) ?? []).join(":")}]`
}

/** Maximum number of ports of one server in an answer. */
const mostPorts = 100_000

const isPort = (port: number) => Number.isInteger(port) && port >= 1 && port <= 65535

const socketPorts = (address: string): ReadonlyArray<ServerPort> => {
  const [, hex = "", hexPort = ""] = /^([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})$/.exec(address) ?? []
  const port = hexPort === "" ? Number(/[.:](\d{1,5})$/.exec(address)?.[1]) : Number.parseInt(hexPort, 16)
  return isPort(port)
    ? [{ port, kind: "socket", what: hexPort === "" ? address : `${kernelAddress(hex)}:${port}` }]
    : []
}

/** Docker's format `0.0.0.0:2008->80/tcp, [::]:2010-2012->90-92/tcp`; unpublished ports have no arrow. */
function* containerPorts(what: string, published: string): Generator<ServerPort> {
  for (const [, first = "", last = first] of published.matchAll(/:(\d{1,5})(?:-(\d{1,5}))?->/g)) {
    const [from, to] = [Number(first), Number(last)]
    if (!isPort(from) || !isPort(to)) continue
    for (let port = from; port <= to; port++) yield { port, kind: "container", what }
  }
}

/** Parses the answer of `portsCommand`. A port with two listening addresses, IPv4 and IPv6, is listed twice. */
export const parsePorts = (output: string): ServerPorts => {
  const rows = output.split("\n").map((line) => line.replace(/\r$/, "").split("|"))
  const unread = rows.flatMap(([kind, what = "", ...why]) => kind === "unread" ? [`${what}: ${why.join("|")}`] : [])
  const ports: Array<ServerPort> = []
  for (const [kind, what = "", ...rest] of rows) {
    const found = kind === "socket"
      ? socketPorts(what)
      : kind === "container"
      ? containerPorts(what, rest.join("|"))
      : []
    for (const port of found) {
      // A short text can name a range of all ports, and an answer may have many of them.
      if (ports.length === mostPorts) return { ports, unread: [...unread, "it names more than 100,000 ports"] }
      ports.push(port)
    }
  }
  return { ports, unread }
}

/** Maximum bytes of each compose file in a scan. */
export const composeFileLimit = 256 * 1024

/** Maximum number of directories of a server in a scan. */
const mostDirectories = 10_000

const first = "berth-scan"

const fieldsEach = 6

const scanLimit: AnswerLimit = {
  bytes: 16 * mebibyte,
  records: fieldsEach * mostDirectories + 1,
  separator: "\0",
  words: "10,000 directories",
  help: "Move directories that are not stacks out of ~/containers"
}

/** Inspects every directory of `~/containers` in one command; skips links and unreadable ones. */
export const scanCommand: RemoteCommand = {
  what: "scanning ~/containers",
  script: scanScript,
  args: [String(composeFileLimit), ...composeFileNames],
  sudo: false,
  limit: scanLimit
}

/** Parses the answer of `scanCommand`; none if it does not start as expected. */
export const parseScan = (output: string): Option.Option<ReadonlyArray<DeployedProject>> => {
  const [head, ...fields] = output.split("\0")
  if (head !== first) return Option.none()
  const projects: Array<DeployedProject> = []
  for (let at = 0; at + fieldsEach <= fields.length; at += fieldsEach) {
    const [name = "", compose = "", env = "", data = "", archive = "", text = ""] = fields.slice(at, at + fieldsEach)
    // Not a valid name of a directory entry; it would lead out of ~/containers.
    if (name === "" || name === "." || name === ".." || name.includes("/")) continue
    projects.push({
      name,
      remotePath: `~/containers/${name}`,
      hasComposeFile: compose !== "",
      hasEnv: env !== "",
      hasData: data !== "",
      tarFile: archive === "" ? null : archive,
      composeFileContent: compose === "" ? null : text
    })
  }
  return Option.some(projects)
}

/** Tries whether files can be written and locked in a directory, or in the nearest one above it, with the programs of a deploy. */
export const readinessCommand = (remotePath: string): RemoteCommand => ({
  what: "trying what a deploy needs",
  script: readinessScript,
  args: [remotePath],
  sudo: false
})

/** Obstacle to a deploy that `readinessCommand` found. */
export type Unready =
  | { readonly kind: "missing"; readonly programs: ReadonlyArray<string> }
  | { readonly kind: "unwritable"; readonly directory: string; readonly reason: string }
  | { readonly kind: "unlocked"; readonly directory: string }
  /** The server did not answer to the end. */
  | { readonly kind: "untold" }

/** Parses the answer of `readinessCommand`; none if nothing is missing. */
export const parseReadiness = (output: string): ReadonlyArray<Unready> => {
  const lines = output.split("\n").map((line) => line.split("\t"))
  if (!lines.some(([kind]) => kind === "end")) return [{ kind: "untold" }]
  const programs = lines.flatMap(([kind, program = ""]) => kind === "missing" ? [program] : [])
  return [
    ...programs.length === 0 ? [] : [{ kind: "missing" as const, programs }],
    ...lines.flatMap(([kind, directory = "", ...reason]): ReadonlyArray<Unready> =>
      kind === "unwritable"
        ? [{ kind, directory, reason: reason.join("\t") }]
        : kind === "unlocked"
        ? [{ kind, directory }]
        : []
    )
  ]
}
