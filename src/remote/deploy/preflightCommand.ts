import { Array, Option, Schema } from "effect"
import { decodeJson } from "../../services/parsing/json.ts"
import { makeLineLimit } from "../../services/ssh/AnswerLimit.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { isImageName } from "../isImageName.ts"
import { parsePortRange, type PortRange } from "./portRange.ts"
import { script } from "./preflight.sh.ts"

/** Images whose layers are read: those of the stack, and the newest others up to this number. */
const mostImages = 200

export interface PreflightQuestions {
  readonly remotePath: string
  /** Image names that the stack needs. */
  readonly images: ReadonlyArray<string>
  /** Names below the remote path whose hashes are wanted. */
  readonly files: ReadonlyArray<string>
  /** True to list the layers of the server's images. */
  readonly layers: boolean
  /** True to run docker-compose 1.x for its version, which takes a third of a second. */
  readonly thorough: boolean
  /** The name of the compose file where a plan is made: what is there now is wanted then. */
  readonly planned?: string
}

const yesOrNo = (yes: boolean) => (yes ? "yes" : "no")

/** One look at everything a deploy has to know of the server: Docker, compose, disks, images and files. */
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

/** `docker compose`, a `docker-compose` of the same age, or `docker-compose` 1.x. */
export type ComposeKind = "v2" | "standalone" | "v1"

const isComposeKind = (kind: string | undefined): kind is ComposeKind =>
  kind === "v2" || kind === "standalone" || kind === "v1"

/** An image of a server: its id, and its layers from the bottom up by their diff ids. */
export interface ServerImage {
  readonly id: string
  readonly layers: ReadonlyArray<string>
}

/** A container of the stack that is there. */
export interface ExistingContainer {
  readonly id: string
  readonly service: string
  /** The id of its image. */
  readonly image: string
  readonly isRunning: boolean
}

/** Current state of the remote path; empty unless it is for a plan. */
export interface ExistingStack {
  readonly containers: ReadonlyArray<ExistingContainer>
  /** The texts of its compose file and of its `.env`; empty where there is none. */
  readonly compose: string
  readonly env: string
  /** The id of the release that runs there; empty where none is known. */
  readonly release: string
  /** Addresses of the server's interfaces, but for those of container networks. */
  readonly addresses?: ReadonlyArray<string>
}

/** The ports that a running container of another directory has. */
export interface OccupiedPorts {
  readonly container: string
  /** The directory of its stack; empty where it belongs to none. */
  readonly directory: string
  readonly ranges: ReadonlyArray<PortRange>
}

/** Answer of the server. Sizes are in KiB; missing objects are not in the maps. */
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
  /** The nearest existing directory, when the user may not write to it. */
  readonly readOnly: string | undefined
  readonly imageIds: ReadonlyMap<string, string>
  readonly fileHashes: ReadonlyMap<string, string>
  readonly serverImages: ReadonlyArray<ServerImage>
  /** Names of the files that the last deploy brought for compose: `.env` and what the compose file names as `env_file`. */
  readonly deployed: ReadonlyArray<string>
  /** Another text after every deploy to the remote path. */
  readonly revision: string
  readonly taken: ReadonlyArray<OccupiedPorts>
  readonly there: ExistingStack
  /** Present where a bridge of an earlier deploy was not led back. */
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

/** Docker's `0.0.0.0:2008->80/tcp, [::]:2010-2012->90-92/tcp`; what is not published has no arrow. */
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
 * Reads lines of sha256sum, by the names of the files below the directory. A name with a backslash or line break in it is
 * written in another way: such a file is left out, and so counts as changed.
 */
export const parseHashes = (lines: ReadonlyArray<string>): ReadonlyMap<string, string> =>
  new Map(Array.filterMap(lines, (line) => {
    const [, hash, name] = /^([0-9a-f]{64}) [ *]\.\/(.+)$/.exec(line) ?? []
    return hash === undefined || name === undefined ? Option.none() : Option.some([name, hash])
  }))

/** Reads the answer of `preflightCommand`. */
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
