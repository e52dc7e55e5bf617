import { Option, Schema } from "effect"
import type { ServerDisk } from "../schema/overview.ts"
import { makeLineLimit, type RemoteCommand } from "../services/ssh/Ssh.ts"
import { parseDisks } from "./server.ts"
import { script } from "./server/disk.sh.ts"
import { script as pruneScript } from "./server/prune.sh.ts"
import { parseSize } from "./stack.ts"

/** Exit code of `diskCommand` and `pruneCommand` if Docker cannot be used. */
export const diskExit = { noDocker: 3, busy: 75 } as const

/** Reads what takes space on a server. `paths` are the remote paths of known stacks. */
export const diskCommand = (paths: ReadonlyArray<string>, sudo: boolean): RemoteCommand => ({
  what: "looking at the disks",
  script,
  args: [],
  stdin: paths.map((path) => `${path}\n`).join(""),
  sudo,
  limit: makeLineLimit(16, 200_000)
})

/** Image as Docker reports it. */
export interface ReportedImage {
  readonly id: string
  readonly bytes: number
  /** Bytes of layers that no other image has; undefined if Docker did not measure. */
  readonly own: number | undefined
  /** Time in milliseconds of its creation, or of its last name, whichever is later. */
  readonly since: number
  readonly parent: string
  readonly tags: ReadonlyArray<string>
  readonly digests: ReadonlyArray<string>
}

/** Container that uses an image, volumes and a log. */
export interface ReportedContainer {
  readonly id: string
  readonly name: string
  readonly image: string
  /** Directory of its stack; empty outside of one. */
  readonly directory: string
  readonly logDriver: string
  readonly logMaxSize: string
  readonly logMaxFile: string
  readonly logBytes: number | undefined
  readonly volumes: ReadonlyArray<string>
}

/** Directory of a server in which Berth keeps releases. */
interface ReleaseDirectory {
  readonly path: string
  /** Part of the names `berth/release:HASH-…` of its images. */
  readonly hash: string
  readonly releases: ReadonlyArray<string>
  readonly needs: ReadonlyArray<{ readonly release: string; readonly image: string; readonly brought: boolean }>
  readonly bytes: number
  readonly backups: number
}

/** Everything that takes space on a server. */
export interface DiskInventory {
  readonly disks: ReadonlyArray<ServerDisk>
  readonly images: ReadonlyArray<ReportedImage>
  readonly containers: ReadonlyArray<ReportedContainer>
  readonly directories: ReadonlyArray<ReleaseDirectory>
  /** Images that a dropped release has left, with the names that Berth gave them. */
  readonly leaving: ReadonlyMap<string, ReadonlyArray<string>>
  readonly volumes: ReadonlyArray<
    { readonly name: string; readonly bytes: number | undefined; readonly changedAt: number | undefined }
  >
  readonly cache: ReadonlyArray<{
    readonly id: string
    readonly bytes: number
    readonly inUse: boolean
    readonly usedAt: number | undefined
    readonly parents: ReadonlyArray<string>
  }>
}

const words = (text: string): ReadonlyArray<string> =>
  text.split(/[ ,]+/).filter((word) => word !== "" && !word.startsWith("<"))

/** Reads a time as Go prints it: `2026-01-02 03:04:05.678 +0000 UTC`, or as RFC 3339. */
const timeOf = (text: string): number | undefined => {
  const [, date, time, zone = "Z"] =
    /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:\.\d+)?\s?(Z|[+-]\d{2}:?\d{2})?/.exec(text) ?? []
  const millis = Date.parse(`${date}T${time}${zone.replace(/^([+-]\d{2})(\d{2})$/, "$1:$2")}`)
  // Docker prints the year 1 for "never".
  return Number.isNaN(millis) || millis < 0 ? undefined : millis
}

const textOf = Schema.decodeUnknownOption(Schema.parseJson(Schema.String))
const count = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
const known = (text: string | undefined): string => text === undefined || text === "<no value>" ? "" : text

/** Parses the answer of `diskCommand`. */
export const parseDisk = (output: string): DiskInventory => {
  const rows = output.split("\n").map((line) => line.split("\t"))
  const of = (kind: string) => rows.flatMap(([label, ...fields]) => label === kind ? [fields] : [])
  const unique = new Map(of("unique").map(([id = "", size = ""]) => [id, parseSize(size)]))
  const sizes = new Map(of("size").map(([name = "", size = ""]) => [name, parseSize(size)]))
  const logs = new Map(of("log").map(([size, id = ""]) => [id, count(size)]))
  const kept = new Map(of("kept").map(([number = "", releases, backups]) => [number, [releases, backups] as const]))
  return {
    disks: parseDisks(output),
    images: of("image").map(([id = "", size, created = "", named = "", parent = "", tags = "", digests = ""]) => ({
      id,
      bytes: count(size) ?? 0,
      own: unique.get(id),
      since: Math.max(timeOf(created) ?? 0, timeOf(named) ?? 0),
      parent,
      tags: words(tags),
      digests: words(digests)
    })),
    containers: of("container").map(
      ([id = "", name = "", image = "", directory = "", driver = "", size, file, volumes = ""]) => ({
        id,
        name: name.replace(/^\//, ""),
        image,
        directory: Option.getOrElse(textOf(directory), () => ""),
        logDriver: driver,
        logMaxSize: known(size),
        logMaxFile: known(file),
        logBytes: logs.get(id),
        volumes: words(volumes)
      })
    ),
    directories: of("directory").map(([number = "", hash = "", ...path]) => {
      const kibibytes = (text: string | undefined) => (count(text) ?? 0) * 1024
      const [releases, backups] = kept.get(number) ?? []
      return {
        path: path.join("\t"),
        hash,
        releases: of("release").flatMap(([at, release = ""]) => at === number ? [release] : []),
        needs: of("needs").flatMap(([at, release = "", image = "", , brought]) =>
          at === number ? [{ release, image, brought: brought === "brought" }] : []
        ),
        bytes: kibibytes(releases),
        backups: kibibytes(backups)
      }
    }),
    leaving: new Map(of("leaves").map(([id = "", names = ""]) => [id, words(names)])),
    volumes: of("volume").map(([name = "", changed]) => {
      const seconds = count(changed)
      return { name, bytes: sizes.get(name), changedAt: seconds === undefined ? undefined : seconds * 1000 }
    }),
    cache: of("cache").map(([id = "", size = "", inUse, usedAt = "", parents = ""]) => ({
      id,
      bytes: parseSize(size) ?? 0,
      inUse: inUse === "true",
      usedAt: timeOf(usedAt),
      parents: words(parents)
    }))
  }
}

/** Something to remove: an image by its id with its planned names, a record of the build cache, or a volume. */
export interface PruneItem {
  readonly kind: "image" | "cache" | "volume"
  readonly id: string
  readonly names: ReadonlyArray<string>
}

/** Removes items that are still unused; runs to its end even if the connection is lost. */
export const pruneCommand = (
  paths: ReadonlyArray<string>,
  items: ReadonlyArray<PruneItem>,
  sudo: boolean
): RemoteCommand => ({
  what: "cleaning up",
  script: pruneScript,
  args: [],
  stdin: [
    ...paths.map((path) => `path\t${path}\n`),
    ...items.map(({ id, kind, names }) => kind === "image" ? `image\t${id}\t${names.join(" ")}\n` : `${kind}\t${id}\n`)
  ].join(""),
  sudo,
  limit: makeLineLimit(4, 20_000)
})

/** Parses the answer of `pruneCommand`. */
export const parsePrune = (output: string) => {
  const rows = output.split("\n").map((line) => line.split("\t"))
  const freed = rows.find(([label]) => label === "freed")?.[1]
  return {
    removed: new Set(rows.flatMap(([label, kind, id]) => label === "removed" ? [`${kind} ${id}`] : [])),
    reasons: new Map(
      rows.flatMap(([label, kind, id, ...because]) =>
        label === "skipped" ? [[`${kind} ${id}`, because.join(" ")] as const] : []
      )
    ),
    freedBytes: freed !== undefined && /^-?\d{1,15}$/.test(freed) ? Math.max(0, Number(freed) * 1024) : null,
    busy: rows.find(([label]) => label === "busy")?.slice(1).join("\t")
  }
}
