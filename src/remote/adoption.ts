import { Array, Option, Schema } from "effect"
import { decodeJson } from "../services/parsing.ts"
import { makeLineLimit, type RemoteCommand } from "../services/ssh/Ssh.ts"
import { script as adoptScript } from "./adoption/adopt.sh.ts"
import { script as configHashesScript } from "./adoption/configHashes.sh.ts"
import { script as directoriesScript } from "./adoption/directories.sh.ts"
import { script as filesScript } from "./adoption/files.sh.ts"
import { script as readPrivateScript } from "./adoption/readPrivate.sh.ts"
import { script as stacksScript } from "./adoption/stacks.sh.ts"
import { script as treeScript } from "./adoption/tree.sh.ts"
import { buildManifestInput } from "./releases.ts"

// Commands that find the compose projects of a server, read their files, and record what runs as a release.

/** A container that compose made, also one that does not run. */
export interface ComposedContainer {
  readonly id: string
  /** Id of its image. */
  readonly image: string
  readonly isRunning: boolean
  /** Seconds since 1970. */
  readonly createdAt: number
  /** Name that its image had when it was created. */
  readonly imageName: string
  readonly project: string
  readonly service: string
  /** Absolute directory of the compose project. */
  readonly directory: string
  /** Compose files that it was started from, as compose notes them; empty where it does not. */
  readonly configFiles: ReadonlyArray<string>
  /** Files of variables that compose was called with; only Compose 2 notes them. */
  readonly variableFiles: ReadonlyArray<string>
  /** Hash of the definition that it was created from. */
  readonly configHash: string
}

/** Containers of compose projects on a server. */
export interface ComposedContainers {
  /** Spellings of the user's home directory. */
  readonly homes: ReadonlyArray<string>
  readonly containers: ReadonlyArray<ComposedContainer>
}

/** Lists the containers of every compose project of a server. */
export const composedContainersCommand = (sudo: boolean): RemoteCommand => ({
  what: "listing the compose projects",
  script: stacksScript,
  args: [],
  sudo,
  limit: makeLineLimit(16, 20_000)
})

const decodeContainer = decodeJson(
  Schema.Tuple(
    Schema.String,
    Schema.String,
    Schema.Boolean,
    Schema.String,
    Schema.String,
    Schema.NullOr(Schema.Record({ key: Schema.String, value: Schema.String }))
  )
)

const prefix = "com.docker.compose"
const splitNames = (label: string | undefined) => (label ?? "").split(",").filter((name) => name !== "")

const parseContainer = (line: string): Option.Option<ComposedContainer> =>
  Option.flatMap(decodeContainer(line), ([id, image, isRunning, created, imageName, labels]) => {
    const label = (name: string) => labels?.[`${prefix}.${name}`]
    const [project, directory] = [label("project"), label("project.working_dir")]
    if (project === undefined || project === "" || directory?.startsWith("/") !== true) return Option.none()
    if (label("oneoff")?.toLowerCase() === "true") return Option.none()
    const millis = Date.parse(created)
    return Option.some({
      id,
      image,
      isRunning,
      createdAt: Number.isFinite(millis) ? Math.floor(millis / 1000) : 0,
      imageName,
      project,
      service: label("service") ?? "",
      directory,
      configFiles: splitNames(label("project.config_files")),
      variableFiles: splitNames(label("project.environment_file")),
      configHash: label("config-hash") ?? ""
    })
  })

const valuesOf = (output: string, key: string): ReadonlyArray<string> =>
  output.split("\n").flatMap((line) => line.startsWith(`${key}\t`) ? [line.slice(key.length + 1)] : [])

/** Parses the answer of `composedContainersCommand`; skips containers of `run`, and those without a directory. */
export const parseComposedContainers = (output: string): ComposedContainers => ({
  homes: [...new Set(valuesOf(output, "home"))].filter((home) => home.startsWith("/") && home !== "/"),
  containers: Array.filterMap(valuesOf(output, "container"), parseContainer)
})

/** A directory of a server. */
interface RemoteDirectory {
  /** Its path without links. */
  readonly real: string
  /** True if the SSH user may write to it. */
  readonly isWritable: boolean
}

const isOneLine = (text: string) => !/[\0\r\n]/.test(text)

/** Looks up directories by absolute paths, or by paths that begin with `~/`. */
export const directoriesCommand = (paths: ReadonlyArray<string>, sudo: boolean): RemoteCommand => ({
  what: "looking at the directories of the compose projects",
  script: directoriesScript,
  args: [],
  // A path with a line break is none that a request can name.
  stdin: paths.map((path) => `${isOneLine(path) ? path : ""}\n`).join(""),
  sudo,
  limit: makeLineLimit(16, 20_000)
})

/** Parses the answer of `directoriesCommand`: the directories that exist, by their requested paths. */
export const parseDirectories = (
  output: string,
  paths: ReadonlyArray<string>
): ReadonlyMap<string, RemoteDirectory> =>
  new Map(
    valuesOf(output, "directory").flatMap((value) => {
      const [number, writable, ...real] = value.split("\t")
      const path = paths[Number(number) - 1]
      return path === undefined || !isOneLine(path)
        ? []
        : [[path, { real: real.join("\t"), isWritable: writable === "yes" }] as const]
    })
  )

/** A file of a stack's directory. */
export interface StackFile {
  readonly kind: "file" | "directory" | "link" | "other"
  /** True if the SSH user may read it. */
  readonly isReadable: boolean
  readonly mode: number
  readonly size: number
  /** Time of its last change, in seconds since 1970. */
  readonly modifiedAt: number
}

/** Looks up a file of a stack's directory by its name. */
export const stackFileCommand = (remotePath: string, name: string, sudo: boolean): RemoteCommand => ({
  what: `looking at ${name}`,
  script: filesScript,
  args: [remotePath],
  stdin: `${name}\n`,
  sudo
})

const kinds = ["file", "directory", "link", "other"] as const

/** Parses the answer of `stackFileCommand`; none if there is no such file. */
export const parseStackFile = (output: string): Option.Option<StackFile> =>
  Option.flatMap(Array.head(valuesOf(output, "found")), (value) => {
    const [, named, readable, mode = "", size = "", modified = ""] = value.split("\t")
    const kind = kinds.find((each) => each === named)
    return kind === undefined ? Option.none() : Option.some({
      kind,
      isReadable: readable === "yes",
      mode: Number.parseInt(mode, 8) & 0o777,
      size: Number(size),
      modifiedAt: Number(modified)
    })
  })

/** Files below a directory. */
interface StackTree {
  /** Permissions and size of each file, by its name relative to the stack's directory. */
  readonly files: ReadonlyMap<string, { readonly mode: number; readonly size: number }>
  /** True if the SSH user may read everything in it. */
  readonly isReadable: boolean
}

/** Lists the files below a directory of a stack, `most` at most. */
export const stackTreeCommand = (remotePath: string, name: string, most: number): RemoteCommand => ({
  what: `looking at ${name}`,
  script: treeScript,
  args: [remotePath, name, String(most)],
  sudo: false,
  limit: makeLineLimit(8, 20_000)
})

/** Parses the answer of `stackTreeCommand`. */
export const parseStackTree = (output: string): StackTree => ({
  files: new Map(
    valuesOf(output, "entry").flatMap((value) => {
      const [mode = "", size = "", ...name] = value.split("\t")
      return [[name.join("\t").replace(/^\.\//, ""), { mode: Number.parseInt(mode, 8) & 0o777, size: Number(size) }]]
    })
  ),
  isReadable: !output.split("\n").includes("unread")
})

/** Reads a file of a stack's directory that only root may read; `most` bytes at most, in base64. */
export const readPrivateCommand = (remotePath: string, name: string, most: number): RemoteCommand => ({
  what: `reading ${name}`,
  script: readPrivateScript,
  args: [remotePath, name, String(most)],
  sudo: true,
  limit: makeLineLimit(8, 100_000)
})

/** A compose project as compose is called for it. */
interface ComposeCall {
  readonly remotePath: string
  readonly projectName: string
  readonly files: ReadonlyArray<string>
  readonly profiles: ReadonlyArray<string>
}

/** Computes the hash of each service's definition, by which docker-compose 1.x recreates containers. */
export const configHashesCommand = (
  { files, profiles, projectName, remotePath }: ComposeCall,
  sudo: boolean
): RemoteCommand => ({
  what: "reading the compose project",
  script: configHashesScript,
  args: [remotePath, projectName, String(files.length), ...files, ...profiles],
  sudo
})

/** Parses the answer of `configHashesCommand`: hashes by service; empty on Compose 2. */
export const parseConfigHashes = (output: string): ReadonlyMap<string, string> =>
  new Map(
    valuesOf(output, "hash").flatMap((value) => {
      const [, service, hash] = /^(\S+) ([0-9a-f]{64})$/.exec(value) ?? []
      return service === undefined || hash === undefined ? [] : [[service, hash] as const]
    })
  )

/** A stack that becomes a release without a restart. */
interface AdoptedStack {
  readonly remotePath: string
  /** Files that only root may read, and that the SSH user gets. */
  readonly owned: ReadonlyArray<string>
  readonly containers: ReadonlyArray<string>
  /** Lines of the release's manifest. */
  readonly release: ReadonlyArray<string>
}

/** Records what runs in a directory as its first release; prints its number in a `release` line. */
export const adoptCommand = (
  { containers, owned, release, remotePath }: AdoptedStack,
  sudo: boolean
): RemoteCommand => ({
  what: "recording the first release",
  script: adoptScript,
  args: [remotePath, "adopted", String(owned.length), ...owned, ...containers],
  stdin: buildManifestInput(release),
  sudo
})

/** Parses the number of the release. */
export const parseAdopted = (output: string): Option.Option<string> =>
  Option.fromNullable(/^release\t(\d+)$/m.exec(output)?.[1])
