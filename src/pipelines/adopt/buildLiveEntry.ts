import { Either, Option, Schema } from "effect"
import { BuildPack } from "../../schema/applications/DeclaredField.ts"
import { declaredFields, RepositoryWord } from "../../schema/applications/declaredFields.ts"
import type { DriftUnknown } from "../../schema/applications/Drift.ts"
import type { AppEnv, PlatformRecord } from "../../schema/applications/PlatformApp.ts"
import type { RawEntry } from "../../schema/applications/PlatformFile.ts"
import { Disclosed } from "../../schema/basics/Disclosed.ts"
import { Domain } from "../../schema/routes/Route.ts"
import { quoteInput } from "../../schema/words/quoted.ts"
import { isUnset, listDriftFields, readLiveValue, resolveDefault } from "../applications/fields.ts"
import { findHostPort } from "../applications/hostPort.ts"

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
  return port !== undefined && Disclosed.$is("Known")(port) && /^\d{1,5}$/.test(port.value)
    ? { port: Number(port.value) }
    : {}
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
