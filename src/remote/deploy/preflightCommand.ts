import { Array, Option, Schema } from "effect"
import { decodeJson } from "../../services/parsing/json.ts"
import { makeLineLimit } from "../../services/ssh/AnswerLimit.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { isImageName } from "../isImageName.ts"
import { parsePortRange, type PortRange } from "./portRange.ts"
import { script } from "./preflight.sh.ts"

/** Maximum number of images whose layers are read: those of its releases, of other releases, then the newest. */
const mostImages = 200

export interface PreflightQuestions {
  readonly remotePath: string
  /** Image names that the stack needs. */
  readonly images: ReadonlyArray<string>
  /** Names of the files to hash, relative to the remote path. */
  readonly files: ReadonlyArray<string>
  /** True to list the layers of the server's images. */
  readonly layers: boolean
  /** True to run docker-compose 1.x for its version, which takes a third of a second. */
  readonly thorough: boolean
  /** Name of the compose file for a plan, which also needs the deployed state. */
  readonly planned?: string
}

const yesOrNo = (yes: boolean) => (yes ? "yes" : "no")

/**
 * Reads everything that a deploy needs to know about the server in one command: Docker, compose, disks, images and
 * files.
 */
export const preflightCommand = (
  { files, images, layers, planned = "", remotePath, thorough }: PreflightQuestions,
  sudo: boolean
): RemoteCommand => ({
  what: "looking at the server before the deploy",
  script,
  args: [
    remotePath,
    ...[thorough, layers, files.length > 0, sudo].map(yesOrNo),
    String(mostImages),
    planned,
    ...images.filter(isImageName)
  ],
  stdin: files.map((name) => `./${name}\0`).join(""),
  sudo,
  limit: makeLineLimit(8, 100_000)
})

/** `docker compose`, standalone `docker-compose` 2.x, or `docker-compose` 1.x. */
export type ComposeKind = "v2" | "standalone" | "v1"

const isComposeKind = (kind: string | undefined): kind is ComposeKind =>
  kind === "v2" || kind === "standalone" || kind === "v1"

/** An image on a server: its id, and its layers from the bottom up by diff id. */
export interface ServerImage {
  readonly id: string
  readonly layers: ReadonlyArray<string>
}

/** An existing container of the stack. */
export interface ExistingContainer {
  readonly id: string
  readonly service: string
  /** The id of its image. */
  readonly image: string
  readonly isRunning: boolean
}

/** Current state of the remote path; empty except for a plan. */
export interface ExistingStack {
  readonly containers: ReadonlyArray<ExistingContainer>
  /** Texts of its compose file and its `.env`; empty if missing. */
  readonly compose: string
  readonly env: string
  /** Id of the current release; empty if unknown. */
  readonly release: string
  /** Addresses of the server's interfaces, without those of container networks. */
  readonly addresses?: ReadonlyArray<string>
}

/** Ports of a running container of another directory. */
export interface OccupiedPorts {
  readonly container: string
  /** Directory of its stack; empty if it belongs to none. */
  readonly directory: string
  readonly ranges: ReadonlyArray<PortRange>
}

/** Parsed answer of the server. Sizes are in KiB; missing objects are left out of the maps. */
export interface ServerFacts {
  readonly engine: string
  /** True on the containerd image store, where image ids differ. */
  readonly containerdStore: boolean
  /** Version of the API that the command line speaks; empty except on the containerd image store. */
  readonly api: string
  readonly composeKind: ComposeKind | "none"
  readonly composeVersion: string
  readonly freeKiB: number
  readonly dockerFreeKiB: number
  /** Nearest existing directory, if the user may not write to it. */
  readonly readOnly: string | undefined
  readonly imageIds: ReadonlyMap<string, string>
  readonly fileHashes: ReadonlyMap<string, string>
  readonly serverImages: ReadonlyArray<ServerImage>
  /** Names of the last deploy's files for compose: `.env` and the `env_file`s of the compose file. */
  readonly deployed: ReadonlyArray<string>
  /** Changes with every deploy to the remote path. */
  readonly revision: string
  readonly taken: ReadonlyArray<OccupiedPorts>
  readonly there: ExistingStack
  /** Present if a bridge of an earlier deploy still exists. */
  readonly hasBridge?: true
}

const number = (text: string | undefined) =>
  text === undefined || !/^\d+$/.test(text) ? Number.POSITIVE_INFINITY : Number(text)

const decodeLayers = decodeJson(Schema.NullOr(Schema.Array(Schema.String)))

const pairOf = (line: string): Option.Option<readonly [string, string]> => {
  const [one, other] = line.split(" ")
  return one === undefined || other === undefined ? Option.none() : Option.some([one, other])
}

const containerThere = (line: string): Option.Option<ExistingContainer> => {
  const [id = "", image = "", running = "", oneOff = "", ...service] = line.split("|")
  return service.length === 0 || oneOff === "True"
    ? Option.none()
    : Option.some({ id, image, isRunning: running === "true", service: service.join("|") })
}

/** Docker's format `0.0.0.0:2008->80/tcp, [::]:2010-2012->90-92/tcp`; unpublished ports have no arrow. */
const published = /(?:^|, )(\[[^\]]*\]|[\w.:]*?):(\d{1,5}(?:-\d{1,5})?)->[\d-]+\/(\w+)/g

const takenBy = (home: string | undefined) => (line: string): Option.Option<OccupiedPorts> => {
  const [container = "", ports = "", ...rest] = line.split("|")
  const directory = rest.join("|")
  if (home !== undefined && directory === home) return Option.none()
  const ranges = Array.fromIterable(ports.matchAll(published)).flatMap(([, address = "", range = "", protocol = ""]) =>
    parsePortRange(range, address, protocol)
  )
  return ranges.length === 0 ? Option.none() : Option.some({ container, directory, ranges })
}

/**
 * Parses lines of sha256sum, by names relative to the directory. A name with a backslash or line break is escaped
 * there, so its file is left out and counts as changed.
 */
export const parseHashes = (lines: ReadonlyArray<string>): ReadonlyMap<string, string> =>
  new Map(Array.filterMap(lines, (line) => {
    const [, hash, name] = /^([0-9a-f]{64}) [ *]\.\/(.+)$/.exec(line) ?? []
    return hash === undefined || name === undefined ? Option.none() : Option.some([name, hash])
  }))

/** Parses the answer of `preflightCommand`. */
export const parsePreflight = (output: string): ServerFacts => {
  const found = new Map<string, Array<string>>()
  for (const line of output.split("\n")) {
    const tab = line.indexOf("\t")
    if (tab < 0) continue
    const [key, rest] = [line.slice(0, tab), line.slice(tab + 1)]
    const before = found.get(key)
    if (before === undefined) found.set(key, [rest])
    else before.push(rest)
  }
  const values = (key: string): ReadonlyArray<string> => found.get(key) ?? []
  const value = (key: string): ReadonlyArray<string> => values(key)[0]?.split("\t", 2) ?? []
  const [kind, composeVersion = ""] = value("compose")
  const docker = value("docker")[0] ?? ""
  const engine = docker.split("|")[0] ?? ""
  const containerdStore = docker.includes("io.containerd.snapshotter")
  return {
    engine,
    containerdStore,
    api: value("api")[0] ?? "",
    composeKind: isComposeKind(kind) ? kind : "none",
    composeVersion,
    freeKiB: number(value("free")[0]),
    dockerFreeKiB: number(value("dockerfree")[0]),
    readOnly: value("readonly")[0],
    imageIds: new Map(Array.filterMap(values("image"), pairOf).map(([id, name]) => [name, id])),
    fileHashes: parseHashes(values("file")),
    serverImages: Array.filterMap(values("chain"), (line) => {
      const space = line.indexOf(" ")
      return Option.map(decodeLayers(line.slice(space + 1)), (layers) => ({
        id: line.slice(0, space),
        layers: layers ?? []
      }))
    }),
    deployed: values("deployed"),
    revision: value("revision")[0] ?? "",
    taken: Array.filterMap(values("port"), takenBy(values("home")[0])),
    there: {
      containers: Array.filterMap(values("stack"), containerThere),
      compose: values("composefile").join("\n"),
      env: values("env").join("\n"),
      release: value("current")[0] ?? "",
      addresses: values("address")
    },
    ...values("bridge").length === 0 ? {} : { hasBridge: true }
  }
}
