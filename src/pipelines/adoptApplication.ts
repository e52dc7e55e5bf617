import { Path } from "@effect/platform"
import { Effect, Either, Option, Schema } from "effect"
import {
  type Adoption,
  type AdoptRequest,
  type AppEnv,
  Disclosed,
  EntryExists,
  NotDeclarable,
  type PlatformFailure,
  type PlatformRecord
} from "../schema/applications.ts"
import { BuildPack, declaredFields, RepositoryWord } from "../schema/declaredFields.ts"
import { platformFileName, type ProjectFileInvalid } from "../schema/projects.ts"
import { Domain } from "../schema/routes.ts"
import { type DriftUnknown, PlatformEntry, type RawEntry } from "../schema/upsert.ts"
import { quoteInput } from "../schema/words.ts"
import type { LocalFiles } from "../services/local/LocalFiles.ts"
import { type FileLocked, Locks, makeProjectFileLock } from "../services/locks/Locks.ts"
import { withElement } from "../services/parsing.ts"
import { Platform } from "../services/platform/Platform.ts"
import { Settings } from "../services/settings/Settings.ts"
import {
  findApplication,
  findHostPort,
  findOnlyPort,
  isUnset,
  listDriftFields,
  readLiveValue,
  resolveDefault
} from "./applications/applications.ts"
import { computeDriftDiffs } from "./applications/differences.ts"
import {
  buildGitUrl,
  makeUnplacedSource,
  maskEntries,
  planEntry,
  readDeclaredEntry,
  readPlatformFile
} from "./applications/platformFile.ts"
import { buildDeclaredValues } from "./drift.ts"
import { readOwnFile, refuseLink, writeOwnFile } from "./projects/paths.ts"
import { type DirectoryRefused, resolveProjectDirectory } from "./projects/trust.ts"

/** Defaults that an entry leaves out: the settings' owner and the directory's name. */
export interface EntryDefaults {
  readonly owner: string
  readonly repository: string
  /** Prefix of every repository's address: `git@host:port/`. */
  readonly gitHost: string
}

/** Entry for a live application, with its hidden fields and what an entry cannot express. */
export interface LiveEntry {
  readonly entry: RawEntry
  readonly unknown: ReadonlyArray<DriftUnknown>
  readonly warnings: ReadonlyArray<string>
}

const isBuildPack = Schema.is(BuildPack)
const isWord = Schema.is(RepositoryWord)
const isDomain = Schema.is(Domain)

const repositoryFields = ({ git_repository: url }: PlatformRecord, { gitHost, owner, repository }: EntryDefaults) => {
  const path = url?.startsWith(gitHost) === true ? url.slice(gitHost.length) : ""
  const [ofOwner = "", file = "", ...more] = path.split("/")
  const name = file.replace(/\.git$/, "")
  if (more.length > 0 || name === file || !isWord(ofOwner) || !isWord(name)) {
    const has = url === undefined || url === null || url === "" ? "it has no repository" : "its repository is elsewhere"
    return Either.left(`${has}: an entry names one as ${gitHost}<owner>/<repository>.git`)
  }
  return Either.right({
    ...(name === repository ? {} : { repo: name }),
    ...(ofOwner === owner ? {} : { gitOwner: ofOwner })
  })
}

/** Fields of the record, except those that equal the default of an entry without them. */
const recordedFields = (app: PlatformRecord, buildpack: BuildPack) => {
  const entry = { buildpack, static: app.is_static === true }
  return Object.fromEntries(
    listDriftFields({ entry }).flatMap((field) => {
      const value = readLiveValue(field, { entry }, app)
      const isLeftOut = field.name === "buildpack" || field.name === "repo" || isUnset(value) ||
        value === resolveDefault(field, entry)
      return isLeftOut ? [] : [[field.name, value]]
    })
  )
}

const portFields = (envs: ReadonlyArray<AppEnv>) => {
  const port = Option.getOrUndefined(findHostPort(envs))?.value
  const only = port !== undefined && Disclosed.$is("Known")(port) ? findOnlyPort(port.value) : undefined
  return only === undefined ? {} : { port: only }
}

const hiddenPort = (envs: Option.Option<ReadonlyArray<AppEnv>>): ReadonlyArray<DriftUnknown> => {
  const [field, { label }] = ["port", declaredFields.port] as const
  if (Option.isNone(envs)) return [{ field, label, reason: "the application's variables cannot be read" }]
  const port = Option.getOrUndefined(findHostPort(envs.value))?.value
  return port !== undefined && Disclosed.$is("Hidden")(port) ? [{ field, label, reason: port.reason }] : []
}

const domainOf = (fqdn: string | null | undefined): string | undefined => {
  const [, host = ""] = /^https:\/\/([^/,]+)\/?$/.exec(fqdn ?? "") ?? []
  return isDomain(host) ? host : undefined
}

/**
 * Builds the entry of `platform.json` that declares an application as it is, without values that Berth assumes anyway.
 * Left is the reason why there is none.
 * @param envs the application's variables; none if they cannot be read
 * @param server the name of its server, if it is not the default one
 */
export const buildLiveEntry = (
  app: PlatformRecord,
  envs: Option.Option<ReadonlyArray<AppEnv>>,
  server: string | undefined,
  assumed: EntryDefaults
): Either.Either<LiveEntry, string> => {
  const { build_pack: buildpack, fqdn } = app
  if (!isBuildPack(buildpack)) {
    return Either.left(
      `its build pack is ${quoteInput(buildpack ?? "")}, and Berth knows composestack, autopack and imagefile`
    )
  }
  const domain = domainOf(fqdn)
  const isUnsaid = domain === undefined && fqdn !== undefined && fqdn !== null && fqdn !== ""
  return Either.map(repositoryFields(app, assumed), (repository) => ({
    entry: {
      name: app.name,
      buildpack,
      ...portFields(Option.getOrElse(envs, () => [])),
      ...(domain === undefined ? {} : { domain }),
      ...(server === undefined ? {} : { server }),
      ...repository,
      ...recordedFields(app, buildpack)
    },
    unknown: hiddenPort(envs),
    warnings: isUnsaid ? [`An entry has one domain that is served with https: ${quoteInput(fqdn)} is not in it`] : []
  }))
}

const isReadable = ({ entry, unknown }: LiveEntry) => (key: string) =>
  key !== "service" && !unknown.some(({ field }) => field === key) && (key !== "server" || "server" in entry)

/** Fields of the earlier entry that the platform does not report: unknown keys and hidden values. */
export const retainedFields = (earlier: RawEntry, live: LiveEntry): RawEntry => {
  const known = Object.keys(PlatformEntry.fields)
  return Object.fromEntries(
    Object.entries(earlier).filter(([key]) => !known.includes(key) || !isReadable(live)(key))
  )
}

/** Name of the application's server, if the platform reports one other than the default. */
const serverName = ({ server_uuid: uuid }: PlatformRecord) =>
  Effect.gen(function*() {
    const byDefault = yield* (yield* Settings).find("platform.defaultServerUuid")
    if (uuid === undefined || uuid === null || uuid === "" || Option.contains(byDefault, uuid)) return undefined
    return (yield* (yield* Platform).servers).find((server) => server.uuid === uuid)?.name
  })

const read = (uuid: string, directory: string) =>
  Effect.gen(function*() {
    const platform = yield* Platform
    const app = yield* platform.application(uuid)
    const refuse = (reason: string) => new NotDeclarable({ name: app.name, reason })
    const first = yield* findApplication(app.name)
    if (Option.exists(first, (other) => other.uuid !== uuid)) {
      return yield* refuse("another application of the platform has its name, and entries find theirs by name")
    }
    const envs = yield* Effect.option(platform.envs(uuid))
    const owner = Option.getOrElse(yield* (yield* Settings).find("gitHost.owner"), () => "")
    const example = yield* buildGitUrl({ owner: "", name: "" })
    const assumed = {
      owner,
      repository: (yield* Path.Path).basename(directory),
      gitHost: example.slice(0, -"/.git".length)
    }
    const live = yield* Either.mapLeft(buildLiveEntry(app, envs, yield* serverName(app), assumed), refuse)
    return { app, envs, live, refuse }
  })

/** Unchanged text of the file, including a byte order mark; empty if there is no file. */
const textOf = (directory: string) =>
  Effect.map(
    readOwnFile(directory, platformFileName),
    Option.match({
      onNone: () => "",
      onSome: (bytes) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)
    })
  )

/**
 * Writes the entry of `platform.json` that declares a live application without drift. Other entries keep their bytes,
 * and the platform is not changed. Hidden values are reported, not written.
 */
export const adopt = Effect.fn("adopt")(function*(
  { projectPath, replace, uuid }: AdoptRequest
): Effect.fn.Return<
  Adoption,
  DirectoryRefused | EntryExists | FileLocked | NotDeclarable | PlatformFailure | ProjectFileInvalid,
  LocalFiles | Locks | Path.Path | Platform | Settings
> {
  const platform = yield* Platform
  const locks = yield* Locks
  const directory = yield* resolveProjectDirectory(projectPath)
  const file = (yield* Path.Path).join(directory, platformFileName)
  yield* refuseLink(directory, platformFileName)
  const { app, envs, live, refuse } = yield* read(uuid, directory)

  return yield* Effect.gen(function*() {
    const declared = Option.getOrElse(yield* readPlatformFile(directory), () => [])
    const index = declared.findIndex(({ entry }) => entry.name === app.name)
    const earlier = declared[index]
    if (earlier !== undefined && replace !== true) return yield* new EntryExists({ file, name: app.name })
    const entry = { ...live.entry, ...(earlier === undefined ? {} : retainedFields(earlier.raw, live)) }

    const plan = yield* planEntry(
      directory,
      yield* readDeclaredEntry(makeUnplacedSource(file))(entry, Math.max(index, 0))
    )
    const { diffs } = computeDriftDiffs(plan, yield* platform.declared(app, buildDeclaredValues(plan)), envs)
    if (diffs.length > 0) {
      const fields = diffs.map(({ label, remote }) => `${label} is ${quoteInput(String(remote))}`).join(", ")
      return yield* refuse(`no entry says what it is: ${fields}`)
    }

    const text = yield* textOf(directory)
    const mark = text.startsWith("\uFEFF") ? "\uFEFF" : ""
    const edited = withElement(text.slice(mark.length), entry, earlier === undefined ? undefined : index)
    yield* writeOwnFile(directory, platformFileName, `${mark}${edited}`)
    const [shown] = yield* maskEntries([entry])
    return {
      action: earlier === undefined ? "added" as const : "replaced" as const,
      uuid,
      entry: shown ?? entry,
      unknown: live.unknown,
      warnings: live.warnings
    }
  }).pipe(locks.withLock(makeProjectFileLock(file)))
})
