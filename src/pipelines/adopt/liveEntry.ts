import { Either, Option, Schema } from "effect"
import { appDefaults, publishDefaults } from "../../schema/AppDefaults.ts"
import { Disclosed } from "../../schema/Disclosed.ts"
import type { DriftUnknown } from "../../schema/Drift.ts"
import type { AppEnv, PlatformRecord } from "../../schema/PlatformApp.ts"
import { BuildPack, type RawEntry, RepositoryWord } from "../../schema/PlatformFile.ts"
import { quoted } from "../../schema/quoted.ts"
import { Domain } from "../../schema/Route.ts"
import { servingFields } from "../applications/fields.ts"
import { hostPortOf } from "../applications/hostPort.ts"

/** What an entry leaves out because it is what Berth assumes: the settings' owner and the directory's name. */
export interface Assumed {
  readonly owner: string
  readonly repository: string
  /** What the address of every repository begins with: `git@host:port/`. */
  readonly gitHost: string
}

/** An entry for a live application, what of it is hidden, and what an entry cannot say. */
export interface LiveEntry {
  readonly entry: RawEntry
  readonly unknown: ReadonlyArray<DriftUnknown>
  readonly warnings: ReadonlyArray<string>
}

const isBuildPack = Schema.is(BuildPack)
const isWord = Schema.is(RepositoryWord)
const isDomain = Schema.is(Domain)

const repositoryFields = ({ git_repository: url }: PlatformRecord, { gitHost, owner, repository }: Assumed) => {
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

const unless = <A>(byDefault: A, key: string, value: A | null | undefined) =>
  value === undefined || value === null || value === "" || value === byDefault ? {} : { [key]: value }

const buildFieldsOf = (app: PlatformRecord) => {
  switch (app.build_pack) {
    case "composestack":
      return unless(appDefaults.composeLocation, "composeLocation", app.compose_location)
    case "autopack":
      return app.is_static === true
        ? { static: true, ...unless(publishDefaults.site, "publishDir", app.publish_directory) }
        : {}
    default:
      return {}
  }
}

const portFields = (envs: ReadonlyArray<AppEnv>) => {
  const port = Option.getOrUndefined(hostPortOf(envs))?.value
  return port !== undefined && Disclosed.$is("Known")(port) && /^\d{1,5}$/.test(port.value)
    ? { port: Number(port.value) }
    : {}
}

const hiddenPort = (envs: Option.Option<ReadonlyArray<AppEnv>>): ReadonlyArray<DriftUnknown> => {
  const { label, name: field } = servingFields.port
  if (Option.isNone(envs)) return [{ field, label, reason: "the application's variables cannot be read" }]
  const port = Option.getOrUndefined(hostPortOf(envs.value))?.value
  return port !== undefined && Disclosed.$is("Hidden")(port) ? [{ field, label, reason: port.reason }] : []
}

const domainOf = (fqdn: string | null | undefined): string | undefined => {
  const [, host = ""] = /^https:\/\/([^/,]+)\/?$/.exec(fqdn ?? "") ?? []
  return isDomain(host) ? host : undefined
}

/**
 * The entry of `platform.json` that declares an application as it is; what Berth assumes anyway is left out. Left is why
 * there is none.
 * @param envs the application's variables; nothing where they cannot be read
 * @param server the name of its server, where that is not the default one
 */
export const liveEntry = (
  app: PlatformRecord,
  envs: Option.Option<ReadonlyArray<AppEnv>>,
  server: string | undefined,
  assumed: Assumed
): Either.Either<LiveEntry, string> => {
  const { build_pack: buildpack, fqdn } = app
  if (!isBuildPack(buildpack)) {
    return Either.left(
      `its build pack is ${quoted(buildpack ?? "")}, and Berth knows composestack, autopack and imagefile`
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
      ...unless(appDefaults.branch, "branch", app.git_branch),
      ...unless(appDefaults.baseDirectory, "baseDirectory", app.base_directory),
      ...buildFieldsOf(app)
    },
    unknown: hiddenPort(envs),
    warnings: isUnsaid ? [`An entry has one domain that is served with https: ${quoted(fqdn)} is not in it`] : []
  }))
}
