import { Array, Either, Option, Predicate, Schema } from "effect"
import { decodeJson, parseYaml } from "../services/parsing.ts"
import { isImageName, makeLineLimit, type RemoteCommand } from "../services/ssh/Ssh.ts"
import { script as deployLockScript } from "./deploy/deployLock.sh.ts"
import { script as preflightScript } from "./deploy/preflight.sh.ts"
import { script as pullImagesScript } from "./deploy/pullImages.sh.ts"
import { script as uploadScript } from "./deploy/upload.sh.ts"

/** Exit code if another holder has the lock; the command then prints its name. */
export const lockedElsewhere = 75

/**
 * Holds the deploy lock of a remote path while its input is open and receives something at least every three minutes.
 * Prints `held` and the revision of the deployed files once it has the lock.
 * @param holder name of the new holder, in one line
 * @param gone name of a holder that is known to be gone, as reported by an earlier attempt; it loses the lock
 */
export const deployLockCommand = (remotePath: string, holder: string, gone = ""): RemoteCommand => ({
  what: "taking the deploy lock",
  script: deployLockScript,
  args: [remotePath, holder, gone],
  sudo: false
})

/** Reads its input to the end and discards it. */
export const drainCommand: RemoteCommand = {
  what: "measuring the line",
  script: "cat >/dev/null",
  args: [],
  sudo: false
}

/**
 * Server ports that a container uses: `first` to `last`, of one protocol and one address; an empty address means all.
 */
export interface PortRange {
  readonly first: number
  readonly last: number
  readonly address: string
  readonly protocol: string
}

const anyAddress = new Set(["", "0.0.0.0", "::", "*"])

/** First and last port of "80" or "8000-8010"; undefined for anything else. */
export const parsePortBounds = (ports: string): readonly [first: number, last: number] | undefined => {
  const [, from = "", to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(ports) ?? []
  const [first, last] = [Number(from), Number(to)]
  return from !== "" && first >= 1 && first <= last && last <= 65_535 ? [first, last] : undefined
}

/** Parses a range of ports as written by Docker and Compose; empty if it is invalid. */
export const parsePortRange = (ports: string, address: string, protocol: string): ReadonlyArray<PortRange> => {
  const range = parsePortBounds(ports)
  const bare = address.replace(/^\[(.*)\]$/, "$1")
  return range === undefined ? [] : [{
    first: range[0],
    last: range[1],
    address: anyAddress.has(bare) ? "" : bare,
    protocol: protocol.toLowerCase()
  }]
}

/**
 * Pulls images from their registries. Prints Docker's output, and on a failure a `refused` line with the image's name;
 * the registry's message is then on stderr.
 * @param containerdStore true if containerd stores the images, which drops an image that loses its last name
 */
export const pullImagesCommand = (
  remotePath: string,
  names: ReadonlyArray<string>,
  containerdStore: boolean,
  sudo: boolean
): RemoteCommand => ({
  what: `pulling ${names.join(", ")}`,
  script: pullImagesScript,
  args: [remotePath, containerdStore ? "containerd" : "docker", ...names],
  sudo
})

/**
 * Stores its input among the uploaded files of a deploy and prints its size and hash.
 * @param name name relative to the remote path, without `..`
 * @param mode permissions as octal digits
 */
export const uploadCommand = (
  remotePath: string,
  name: string,
  mode: "444" | "600" | "644" | "755"
): RemoteCommand => ({
  what: `uploading ${name}`,
  script: uploadScript,
  args: [remotePath, name, mode],
  sudo: false
})

/** Size in bytes and sha256 in hex of a file on the server. */
interface ReceivedFile {
  readonly bytes: number
  readonly sha256: string
}

/** Parses the answer of `uploadCommand`. */
export const parseReceived = (output: string): Option.Option<ReceivedFile> => {
  const match = /^\s*(\d+)\s+([0-9a-f]{64})\b/.exec(output)
  return match?.[1] === undefined || match[2] === undefined
    ? Option.none()
    : Option.some({ bytes: Number(match[1]), sha256: match[2] })
}

/** Parsed content of a compose file; undefined if it cannot be read. */
export const parseComposeContent = (compose: string): unknown =>
  Either.flatMap(parseYaml(compose, { merge: true }), ({ document }) => Either.try((): unknown => document.toJS()))
    .pipe(Either.getOrElse(() => undefined))

const merge = (under: unknown, over: unknown): unknown => {
  if (Predicate.isNullable(over)) return under
  if (Array.isArray(under) && Array.isArray(over)) return [...under, ...over]
  if (!Predicate.isRecord(under) || !Predicate.isRecord(over)) return over
  const keys = [...new Set([...Object.keys(under), ...Object.keys(over)])]
  return Object.fromEntries(keys.map((key) => [key, key in under ? merge(under[key], over[key]) : over[key]]))
}

/**
 * Merges the texts of several compose files, later ones over earlier ones: exact enough to see that two versions differ,
 * and what their services publish. A single file stays as it is.
 */
export const mergeComposeTexts = (texts: ReadonlyArray<string>): string => {
  const [first = "", ...others] = texts
  if (others.length === 0) return first
  return JSON.stringify(texts.map(parseComposeContent).reduce(merge) ?? "")
}

const mostTexts = 64

/** Reads the compose files of an answer, whose lines have the keys `composefile1`, `composefile2`, … */
export const readComposeTexts = (values: (key: string) => ReadonlyArray<string>): string =>
  mergeComposeTexts(
    Array.makeBy(mostTexts, (index) => values(`composefile${index + 1}`))
      .filter((lines) => lines.length > 0)
      .map((lines) => lines.join("\n"))
  )

/** Maximum number of images whose layers are read: those of its releases, of other releases, then the newest. */
const mostImages = 200

export interface PreflightQuestions {
  readonly remotePath: string
  /** Image names that the stack needs. */
  readonly images: ReadonlyArray<string>
  /** Names of the files to hash, relative to the remote path. */
  readonly files: ReadonlyArray<string>
  /** Names of files and directories whose presence is told. */
  readonly probes?: ReadonlyArray<string>
  /** True to list the layers of the server's images. */
  readonly layers: boolean
  /** True to run docker-compose 1.x for its version, which takes a third of a second. */
  readonly thorough: boolean
  /** Name of the compose file for a plan, which also needs the deployed state. */
  readonly planned?: string
  /**
   * Name of the stack; empty if compose derives it from the directory. Without one, the stack has whichever names its
   * containers have.
   */
  readonly projectName?: string | undefined
}

const yesOrNo = (yes: boolean) => (yes ? "yes" : "no")

/**
 * Reads everything that a deploy needs to know about the server in one command: Docker, compose, disks, images and
 * files.
 */
export const preflightCommand = (
  { files, images, layers, planned = "", probes = [], projectName = "?", remotePath, thorough }: PreflightQuestions,
  sudo: boolean
): RemoteCommand => ({
  what: "looking at the server before the deploy",
  script: preflightScript,
  args: [
    remotePath,
    ...[thorough, layers, files.length + probes.length > 0, sudo].map(yesOrNo),
    String(mostImages),
    planned,
    projectName,
    ...images.filter(isImageName)
  ],
  stdin: [...files.map((name) => `./${name}\0`), ...probes.map((name) => `?./${name}\0`)].join(""),
  sudo,
  limit: makeLineLimit(8, 100_000)
})

/** `docker compose`, standalone `docker-compose` 2.x, or `docker-compose` 1.x. */
export type ComposeKind = "v2" | "standalone" | "v1"

const isComposeKind = (kind: string | undefined): kind is ComposeKind =>
  kind === "v2" || kind === "standalone" || kind === "v1"

/** An image on a server: its id, and its layers from the bottom up by diff id. */
interface ServerImage {
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
  /** Texts of its compose files, merged, and of its variables; empty if missing. */
  readonly compose: string
  readonly env: string
  /** Id of the current release; empty if unknown. */
  readonly release: string
  /** Addresses of the server's interfaces, without those of container networks. */
  readonly addresses?: ReadonlyArray<string>
}

/** Ports of a running container of another stack. */
export interface OccupiedPorts {
  readonly container: string
  /** Directory of its stack; empty if it belongs to none. */
  readonly directory: string
  readonly ranges: ReadonlyArray<PortRange>
}

/** A container of another stack: of the same name in another directory, or of another name in this one. */
export interface ForeignContainer {
  readonly directory: string
  /** Its name. */
  readonly container: string
  /** Name of the stack. */
  readonly project: string
}

/** Parses lines of directory, container and project. */
export const parseForeignContainers = (lines: ReadonlyArray<string>): ReadonlyArray<ForeignContainer> =>
  lines.flatMap((line) => {
    const [directory = "", container = "", project = ""] = line.split("\t")
    return directory === "" || container === "" ? [] : [{ directory, container, project }]
  })

/** Entries of the server at paths of a stack. */
export interface RemotePaths {
  readonly directories: ReadonlySet<string>
  readonly others: ReadonlySet<string>
}

/** Images that a server built, as a release notes them. */
interface NotedBuilds {
  /** Sources as a digest, by service. */
  readonly digests: ReadonlyMap<string, string>
  /** Ids of all images of that release by name; empty if it built none. */
  readonly imageIds: ReadonlyMap<string, string>
}

/** Parsed answer of the server. Sizes are in KiB; missing objects are left out of the maps. */
export interface ServerFacts {
  readonly engine: string
  /** `os/architecture` in the words of images, such as `linux/amd64`; empty if unknown. */
  readonly platform: string
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
  /** Directories among the files that were asked for, and what else stands at the probed paths. */
  readonly paths: RemotePaths
  readonly serverImages: ReadonlyArray<ServerImage>
  /** Names of the last deploy's files for compose: `.env` and the `env_file`s of the compose file. */
  readonly deployed: ReadonlyArray<string>
  /** Images that the server built for the current release. */
  readonly built: NotedBuilds
  /** Changes with every deploy to the remote path. */
  readonly revision: string
  readonly taken: ReadonlyArray<OccupiedPorts>
  /** In another directory, with the name of this stack. */
  readonly foreign: ReadonlyArray<ForeignContainer>
  /** In this directory, with another name. */
  readonly apart: ReadonlyArray<ForeignContainer>
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

const takenBy = (line: string): Option.Option<OccupiedPorts> => {
  const [container = "", ports = "", ...rest] = line.split("|")
  const directory = rest.join("|")
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

/** Architectures that `docker info` names as the kernel does. */
const kernelNames: Readonly<Record<string, string>> = {
  x86_64: "amd64",
  aarch64: "arm64",
  armv7l: "arm",
  armv6l: "arm",
  i386: "386",
  i686: "386"
}

const platformOf = (told: string): string => {
  const [, os = "", architecture = ""] = /^(\w+)\/(\w+)$/.exec(told) ?? []
  return architecture === "" ? "" : `${os}/${kernelNames[architecture] ?? architecture}`
}

/** Parses lines of service and digest. */
export const parseBuilt = (lines: ReadonlyArray<string>): ReadonlyMap<string, string> =>
  new Map(lines.flatMap((line) => {
    const [service = "", digest = ""] = line.split("\t")
    return digest === "" ? [] : [[service, digest]]
  }))

const namedBy = (lines: ReadonlyArray<string>, kind: string): ReadonlySet<string> =>
  new Set(lines.flatMap((line) => line.startsWith(`${kind}  ./`) ? [line.slice(kind.length + 4)] : []))

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
    platform: platformOf(docker.split("|").at(-2) ?? ""),
    containerdStore,
    api: value("api")[0] ?? "",
    composeKind: isComposeKind(kind) ? kind : "none",
    composeVersion,
    freeKiB: number(value("free")[0]),
    dockerFreeKiB: number(value("dockerfree")[0]),
    readOnly: value("readonly")[0],
    imageIds: new Map(Array.filterMap(values("image"), pairOf).map(([id, name]) => [name, id])),
    fileHashes: parseHashes(values("file")),
    paths: { directories: namedBy(values("file"), "directory"), others: namedBy(values("file"), "other") },
    serverImages: Array.filterMap(values("chain"), (line) => {
      const space = line.indexOf(" ")
      return Option.map(decodeLayers(line.slice(space + 1)), (layers) => ({
        id: line.slice(0, space),
        layers: layers ?? []
      }))
    }),
    deployed: values("deployed"),
    built: {
      digests: parseBuilt(values("built")),
      imageIds: new Map(values("builtimage").map((line) => line.split("\t")).map(([id = "", name = ""]) => [name, id]))
    },
    revision: value("revision")[0] ?? "",
    taken: Array.filterMap(values("port"), takenBy),
    foreign: parseForeignContainers(values("foreign")),
    apart: parseForeignContainers(values("apart")),
    there: {
      containers: Array.filterMap(values("stack"), containerThere),
      compose: readComposeTexts(values),
      env: values("env").join("\n"),
      release: value("current")[0] ?? "",
      addresses: values("address")
    },
    ...values("bridge").length === 0 ? {} : { hasBridge: true }
  }
}
