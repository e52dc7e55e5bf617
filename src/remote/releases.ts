import { Array as Arr, Option } from "effect"
import type { ReleaseImage } from "../schema/releases.ts"
import { makeLineLimit, type RemoteCommand } from "../services/ssh/Ssh.ts"
import { script } from "./activation/releaseFiles.sh.ts"
import { script as releasesScript } from "./activation/releases.sh.ts"
import { parseBuilt, parseHashes, readComposeTexts } from "./deploy.ts"

/** Files of a release as its server keeps them. */
interface ReleaseFiles {
  /** Sha256 of each file by its name relative to the remote path. */
  readonly hashes: ReadonlyMap<string, string>
  /** The text of its compose files, merged. */
  readonly compose: string
  /** Text of its variables: `.env`, or the files in its place; empty if it has none. */
  readonly env: string
}

/** Reads the hashes of a release's files, and the texts of its compose files and variables. */
export const releaseFilesCommand = (remotePath: string, release: string): RemoteCommand => ({
  what: `reading the files of release ${release}`,
  script,
  args: [remotePath, release],
  sudo: false,
  limit: makeLineLimit(8, 100_000)
})

/** Parses the answer of `releaseFilesCommand`. */
export const parseReleaseFiles = (output: string): ReleaseFiles => {
  const values = (key: string) =>
    output.split("\n").flatMap((line) => line.startsWith(`${key}\t`) ? [line.slice(key.length + 1)] : [])
  return {
    hashes: parseHashes(values("file")),
    compose: readComposeTexts(values),
    env: values("env").join("\n")
  }
}

/** Description of a release, in addition to the server's own records. */
export interface ReleaseManifest {
  /** Caller of the deploy: token or `user@machine`. */
  readonly by: string
  /** Compose files that compose is called with, the first one first; they are files of the release. */
  readonly composeFiles: ReadonlyArray<string>
  readonly profiles: ReadonlyArray<string>
  /** Project name that compose is called with; empty where compose finds it by itself. */
  readonly projectName: string
  /** Name that the files give the stack, empty if compose derives it; undefined in the notes of earlier versions. */
  readonly stackName?: string
  /** Files of the variables that compose substitutes; empty where it reads `.env` by itself. */
  readonly variableFiles: ReadonlyArray<string>
  /** Files and directories of the release that the containers of services see. */
  readonly mounts: ReadonlyArray<{ readonly service: string; readonly path: string }>
  /** Files among them whose texts are never shown. */
  readonly privateFiles: ReadonlyArray<string>
  /** The project's health timeout in milliseconds. */
  readonly healthMillis: Option.Option<number>
  readonly services: ReadonlyArray<{ readonly name: string; readonly runs: boolean }>
  /** Sources of the images that the server built: a digest by service. */
  readonly built?: ReadonlyMap<string, string>
  /** Services that may have two running containers at once, as declared by the last deploy. */
  readonly bridged: ReadonlyArray<string>
  /**
   * Names of its files relative to the remote path, each in one list: `.env` and each `env_file` here, all others
   * below.
   */
  readonly envFiles: ReadonlyArray<string>
  readonly files: ReadonlyArray<string>
  /** Large files, which are linked instead of copied. */
  readonly largeFiles: ReadonlyArray<string>
  /** Commit of the git checkout that it was deployed from, and whether files differed from it. */
  readonly source?: { readonly commit: string; readonly dirty: boolean }
  /** Environment of its project that was deployed. */
  readonly environment?: string
  /** True if containers of services that it does not have stay. */
  readonly keepsOrphans?: boolean
  /** `backups` of its project as one line of JSON; empty without. */
  readonly backups: string
}

const controls = /[\u0000-\u001f\u007f]+/g

/** Lines that decide how compose is called for a release, and whose containers see which of its files. */
export const formatStackLines = (
  { composeFiles, mounts, profiles, projectName, variableFiles }: Pick<
    ReleaseManifest,
    "composeFiles" | "mounts" | "profiles" | "projectName" | "variableFiles"
  >
): ReadonlyArray<string> => [
  ...composeFiles.map((name) => `compose\t${name}`),
  ...profiles.map((name) => `profile\t${name}`),
  ...projectName === "" ? [] : [`project\t${projectName}`],
  ...variableFiles.map((name) => `variables\t${name}`),
  ...mounts.map(({ path, service }) => `mount\t${service}\t${path}`)
]

/** Encodes a release as lines of key and value, which the server stores unchanged. */
export const formatManifest = (manifest: ReleaseManifest): ReadonlyArray<string> => [
  `by\t${manifest.by.replaceAll(controls, " ")}`,
  ...formatStackLines(manifest),
  ...Option.match(manifest.healthMillis, { onNone: () => [], onSome: (millis) => [`health\t${Math.round(millis)}`] }),
  ...manifest.services.map(({ name, runs }) => `service\t${runs ? "runs" : "rests"}\t${name}`),
  ...[...manifest.built ?? []].map(([service, digest]) => `built\t${service}\t${digest}`),
  ...manifest.bridged.map((name) => `bridged\t${name}`),
  ...manifest.envFiles.map((name) => `env\t${name}`),
  ...manifest.files.map((name) => `file\t${name}`),
  ...manifest.largeFiles.map((name) => `large\t${name}`),
  ...manifest.privateFiles.map((name) => `private\t${name}`),
  ...manifest.source === undefined
    ? []
    : [`source\t${manifest.source.commit}\t${manifest.source.dirty ? "dirty" : "clean"}`],
  ...manifest.environment === undefined ? [] : [`environment\t${manifest.environment.replaceAll(controls, " ")}`],
  ...manifest.backups === "" ? [] : [`backups\t${manifest.backups}`],
  ...manifest.keepsOrphans === true ? ["orphans\tkeep"] : [],
  ...manifest.stackName === undefined ? [] : [`called\t${manifest.stackName.replaceAll(controls, " ")}`]
]

/** Parses the lines of `manifestLines`; skips other lines. */
const parseManifest = (lines: ReadonlyArray<string>): ReleaseManifest => {
  const values = (key: string) =>
    lines.flatMap((line) => line.startsWith(`${key}\t`) ? [line.slice(key.length + 1)] : [])
  const [environment] = values("environment")
  const [stackName] = values("called")
  const [, commit, files] = /^([0-9a-f]{40})\t(dirty|clean)$/.exec(values("source")[0] ?? "") ?? []
  return {
    by: values("by")[0] ?? "",
    composeFiles: values("compose"),
    profiles: values("profile"),
    projectName: values("project")[0] ?? "",
    ...stackName === undefined ? {} : { stackName },
    ...values("orphans").includes("keep") ? { keepsOrphans: true } : {},
    variableFiles: values("variables"),
    mounts: values("mount").map((value) => {
      const [service = "", ...path] = value.split("\t")
      return { service, path: path.join("\t") }
    }),
    privateFiles: values("private"),
    healthMillis: Option.filter(Option.map(Arr.head(values("health")), Number), Number.isFinite),
    services: values("service").map((value) => {
      const [state, ...name] = value.split("\t")
      return { name: name.join("\t"), runs: state === "runs" }
    }),
    built: parseBuilt(values("built")),
    bridged: values("bridged"),
    envFiles: values("env"),
    files: values("file"),
    largeFiles: values("large"),
    ...commit === undefined ? {} : { source: { commit, dirty: files === "dirty" } },
    ...environment === undefined ? {} : { environment },
    backups: values("backups")[0] ?? ""
  }
}

/** Start of an activation's standard input: the size of the text in bytes, a line break, and the text. */
export const buildManifestInput = (lines: ReadonlyArray<string>): string => {
  const text = `${lines.join("\n")}\n`
  return `${new TextEncoder().encode(text).length}\n${text}`
}

/** Lists the releases of a remote path. */
export const releasesCommand = (remotePath: string, sudo: boolean): RemoteCommand => ({
  what: "listing the releases",
  script: releasesScript,
  args: [remotePath],
  sudo,
  // Enough for twenty releases of ten thousand files each.
  limit: makeLineLimit(8, 200_000)
})

/** A release as reported by its server. */
export interface RemoteRelease {
  readonly id: string
  readonly at: string
  readonly isCurrent: boolean
  readonly images: ReadonlyArray<ReleaseImage>
  /** Its images that the server no longer has. */
  readonly missing: ReadonlyArray<ReleaseImage>
  readonly manifest: ReleaseManifest
}

const valueOf = (lines: ReadonlyArray<string>, key: string) =>
  Option.fromNullable(lines.find((line) => line.startsWith(`${key}\t`))?.slice(key.length + 1))

/** Parses the answer of `releasesCommand`, newest first. */
export const parseReleases = (output: string): ReadonlyArray<RemoteRelease> => {
  const lines = output.split("\n")
  const here = new Set(lines.flatMap((line) => line.startsWith("here\t") ? [line.slice("here\t".length)] : []))
  const notes: Array<{ readonly id: string; readonly isCurrent: boolean; readonly lines: Array<string> }> = []
  for (const line of lines) {
    const [, id, marker] = /^release\t(\d+)\t(.*)$/.exec(line) ?? []
    if (id === undefined) notes.at(-1)?.lines.push(line)
    else notes.push({ id, isCurrent: marker === "current", lines: [] })
  }
  return notes.flatMap(({ id, isCurrent, lines }) => {
    const images = lines.flatMap((line) => {
      const [label, id, name] = line.split("\t")
      return label === "image" && id !== undefined && name !== undefined ? [{ name, id }] : []
    })
    return Option.toArray(Option.map(valueOf(lines, "at"), (at) => ({
      id,
      at,
      isCurrent,
      images,
      missing: images.filter((image) => !here.has(image.id)),
      manifest: parseManifest(lines)
    })))
  }).toSorted((one, other) => Number(other.id) - Number(one.id))
}
