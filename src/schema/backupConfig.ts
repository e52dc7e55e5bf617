import { Duration, Schema } from "effect"
import { DurationText } from "./basics.ts"
import { HookCommand } from "./deploys.ts"

/** Databases whose dump and restore are written out. */
export const BackupKind = Schema.Literal("postgres", "mysql", "mariadb", "mongo", "redis", "sqlite")
export type BackupKind = typeof BackupKind.Type

/** Name of an item, which becomes part of a file's name. */
const BackupItemName = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/, {
    message: () => "must be a name of up to 63 letters, digits, hyphens and underscores"
  })
)

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))
/** Name of a service or a volume, as compose allows it. */
const ComposeName = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, { message: () => "must be a name of the compose file" })
)
/** Absolute path of a file in a container. */
const isFilePath = (path: string) =>
  // oxlint-disable-next-line no-control-regex
  path.length <= 1024 && /^\/[^\u0000-\u001f\u007f]*[^\u0000-\u001f\u007f/]$/.test(path) &&
  !path.split("/").some((part) => part === "." || part === "..")
const FileInContainer = Schema.String.pipe(
  Schema.filter((path) => isFilePath(path) || "must be the absolute path of a file in the container, without \"..\"")
)

const shapes = "needs one of: kind and service; volume; service, dump and restore"

/** Something that a backup keeps: a database, a volume, or what two commands of a service write and read. */
const BackupItem = Schema.Struct({
  kind: optional(BackupKind),
  service: optional(ComposeName),
  path: optional(FileInContainer),
  volume: optional(ComposeName),
  dump: optional(HookCommand),
  restore: optional(HookCommand),
  stop: optional(Schema.Array(ComposeName).pipe(Schema.maxItems(50))),
  allowEmpty: optional(Schema.Boolean)
}).pipe(
  Schema.filter(({ dump, kind, path, restore, service, stop, volume }) => {
    const has = (value: unknown) => value !== undefined && value !== null
    const given = [has(kind), has(service), has(volume), has(dump), has(restore)].map((is) => is ? "1" : "0").join("")
    if (!["11000", "00100", "01011"].includes(given)) return shapes
    if ((kind === "sqlite") !== has(path)) return "needs path, the database's file in the container, for sqlite alone"
    return !has(service) || !stop?.includes(service ?? "") || "must not stop the service that it is dumped in"
  })
)
export interface BackupItem extends Schema.Schema.Type<typeof BackupItem> {}

const mostItems = 20

const shortestEvery = Duration.minutes(10)
const longestEvery = Duration.days(365)

/** Interval of scheduled backups. */
const BackupInterval = DurationText.pipe(
  Schema.filter((every) =>
    Duration.between(every, { minimum: shortestEvery, maximum: longestEvery }) ||
    "must be between 10 minutes and 365 days"
  )
)

/** `backups` of `container.json`. */
export const BackupConfig = Schema.Struct({
  beforeDeploy: optional(Schema.Boolean),
  keep: optional(
    Schema.Number.pipe(Schema.int(), Schema.between(1, 1000)).annotations({
      message: () => ({ message: "must be a whole number from 1 to 1000", override: true })
    })
  ),
  every: optional(BackupInterval),
  items: Schema.Record({ key: BackupItemName, value: BackupItem }).pipe(
    Schema.filter((items) => {
      const count = Object.keys(items).length
      return (count > 0 && count <= mostItems) || `must name from 1 to ${mostItems} items`
    })
  )
})
export interface BackupConfig extends Schema.Schema.Type<typeof BackupConfig> {}
