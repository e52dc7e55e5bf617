import { Path } from "@effect/platform"
import { Context, Effect, Layer, Option, Schema, Stream } from "effect"
import { ProjectBeingWritten } from "../schema/trust.ts"
import { type LocalFileFailed, LocalFiles, privateFile } from "./local/LocalFiles.ts"
import { type FileLocked, Locks, makeTrustLock } from "./locks/Locks.ts"
import { Settings } from "./settings/Settings.ts"

/** Trusted programs of a project by name, each with the sha256 of the version that was trusted. */
type TrustedPrograms = Readonly<Record<string, string>>

/** Name of a program or link in the record of a project. */
export const formatTrustedName = (kind: string, name: string): string => `${kind} ${name}`

const Stored = Schema.parseJson(Schema.Struct({
  version: Schema.Literal(1),
  projects: Schema.Record({ key: Schema.String, value: Schema.Record({ key: Schema.String, value: Schema.String }) })
}))
type StoredProjects = typeof Stored.Type["projects"]
const decode = Schema.decodeOption(Stored)
const encode = Schema.encodeSync(Stored)

/** Decides about the records that stay, by the real directory of their project and what is trusted of it. */
export type KeepTrust = (directory: string, programs: TrustedPrograms) => boolean

interface TrustStore {
  /** Trusted programs of the project in a real directory; empty if there are none or they cannot be read. */
  readonly find: (directory: string) => Effect.Effect<TrustedPrograms>
  /** Replaces what is trusted of the project in a real directory. */
  readonly record: (
    directory: string,
    programs: TrustedPrograms
  ) => Effect.Effect<void, LocalFileFailed | FileLocked | ProjectBeingWritten>
  /** Ends the trust in projects. Takes the lock only where there is some to end. */
  readonly keepOnly: (keep: KeepTrust) => Effect.Effect<void, LocalFileFailed | FileLocked>
  /**
   * Suspends the trust in projects until the returned effect runs: `find` finds none, and `record` fails. Only in this
   * process; others end the trust by `keepOnly`.
   */
  readonly suspend: (keep: KeepTrust) => Effect.Effect<Effect.Effect<void>>
}

const trustsNothing: TrustStore = {
  find: () => Effect.succeed({}),
  record: () => Effect.void,
  keepOnly: () => Effect.void,
  suspend: () => Effect.succeed(Effect.void)
}

/**
 * Trust of this machine's user in each project: in programs that run here, and in links that lead out. Without a layer,
 * nothing is trusted.
 */
export class ProjectTrust extends Context.Reference<ProjectTrust>()("berth/ProjectTrust", {
  defaultValue: () => trustsNothing
}) {}

const make = Effect.gen(function*() {
  const files = yield* LocalFiles
  const locks = yield* Locks
  const path = yield* Path.Path
  const file = path.resolve((yield* Settings).directory, "berth.trust")
  /** Reason not to believe the record: it may have come with a cloned repository, beside its settings. */
  const findDoubt = (mode: number) =>
    Effect.map(files.names(path.dirname(file)), (entries) => {
      const isFile = entries.some(({ kind, name }) => kind === "file" && name === path.basename(file))
      if (!isFile) return "is not a regular file"
      // Windows has no such modes.
      return path.sep === "/" && (mode & 0o077) !== 0 ? "may be read or changed by others" : undefined
    })
  const read = Effect.gen(function*() {
    const none: (typeof Stored.Type)["projects"] = {}
    const found = yield* files.find(file)
    if (Option.isNone(found)) return none
    const doubt = yield* findDoubt(found.value.mode)
    if (doubt !== undefined) {
      yield* Effect.logWarning(
        `${file} ${doubt}: no project counts as trusted. Remove it, and trust the projects again`
      )
      return none
    }
    const text = new TextDecoder().decode(yield* files.read(file))
    // A file that cannot be decoded trusts nothing, and is replaced by the next record.
    return Option.match(decode(text), { onNone: () => none, onSome: ({ projects }) => projects })
  })
  const suspended = new Set<KeepTrust>()
  const isSuspended = (directory: string, programs: TrustedPrograms) =>
    [...suspended].some((keep) => !keep(directory, programs))
  const change = <E = never>(
    edit: (projects: StoredProjects) => Effect.Effect<StoredProjects, E>
  ) =>
    Effect.gen(function*() {
      const before = yield* read
      const after = yield* edit(before)
      if (after === before) return
      const text = `${encode({ version: 1, projects: after })}\n`
      // Replaces a link in its place.
      yield* files.save(file, Stream.make(new TextEncoder().encode(text)), { mode: privateFile.mode })
    }).pipe(
      locks.withLock(makeTrustLock(file)),
      // The lock lies beside the file: a first record may be made before any settings exist.
      (locked) => Effect.zipRight(files.makeDirectory(path.dirname(file), { mode: 0o700 }), locked)
    )
  return {
    find: (directory) =>
      read.pipe(
        Effect.map((projects): TrustedPrograms => {
          const programs = projects[directory] ?? {}
          return isSuspended(directory, programs) ? {} : programs
        }),
        Effect.catchAll((error) => Effect.as(Effect.logWarning(`${error.message}: no project counts as trusted`), {}))
      ),
    record: (directory, programs) =>
      change((projects) =>
        isSuspended(directory, programs)
          ? new ProjectBeingWritten({ path: directory })
          : Effect.succeed({ ...projects, [directory]: programs })
      ),
    keepOnly: (keep) => {
      const isKept = ([directory, programs]: readonly [string, TrustedPrograms]) => keep(directory, programs)
      const end = change((projects) => {
        const entries = Object.entries(projects)
        return Effect.succeed(entries.every(isKept) ? projects : Object.fromEntries(entries.filter(isKept)))
      })
      return Effect.asVoid(
        Effect.unlessEffect(end, Effect.map(read, (projects) => Object.entries(projects).every(isKept)))
      )
    },
    suspend: (keep) =>
      Effect.sync(() => {
        // An own function each time: two suspensions may share one.
        const own: KeepTrust = (directory, programs) => keep(directory, programs)
        suspended.add(own)
        return Effect.sync(() => void suspended.delete(own))
      })
  } satisfies TrustStore
})

/** Stores the trust beside the settings, outside of every project, in a private file that is replaced under a lock. */
export const ProjectTrustLive = Layer.effect(ProjectTrust, make)
