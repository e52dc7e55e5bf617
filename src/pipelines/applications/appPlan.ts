import { Path } from "@effect/platform"
import { Effect, Option, Schema } from "effect"
import { appDefaults } from "../../schema/AppDefaults.ts"
import type { Repository } from "../../schema/GitHook.ts"
import { type BuildPack, type DeclaredApp, type RawEntry, RepositoryWord } from "../../schema/PlatformFile.ts"
import { platformFileName, ProjectFileInvalid } from "../../schema/Project.ts"
import { quoted } from "../../schema/quoted.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { Settings } from "../../services/settings/Settings.ts"

/** What an entry of `platform.json` asks for, with the defaults filled in that hold for every use of a field. */
export interface AppPlan {
  readonly name: string
  readonly raw: RawEntry
  readonly warnings: ReadonlyArray<string>
  readonly buildPack: BuildPack
  /** The build pack where the entry names one. */
  readonly declaredBuildPack: Option.Option<BuildPack>
  readonly repository: Repository
  readonly gitUrl: string
  readonly branch: string
  readonly baseDirectory: string
  readonly composeLocation: string
  readonly isStatic: boolean
  readonly publishDir: Option.Option<string>
  readonly port: Option.Option<number>
  readonly domain: Option.Option<string>
  readonly server: Option.Option<string>
  readonly service: Option.Option<string>
}

/** Where Git finds a repository: `git@host:port/owner/name.git`. */
export const gitUrlOf = Effect.fn("gitUrlOf")(function*(
  { name, owner }: Repository
): Effect.fn.Return<string, SettingsError, Settings> {
  const settings = yield* Settings
  const host = yield* settings.get("gitHost.sshHost")
  const port = yield* settings.get("gitHost.sshPort")
  return `git@${host}:${port}/${owner}/${name}.git`
})

/** Fills in the defaults of an entry: of the format, of the settings, and of the project's directory. */
export const planOf = Effect.fn("planOf")(function*(
  projectPath: string,
  { entry, raw, warnings }: DeclaredApp
): Effect.fn.Return<AppPlan, ProjectFileInvalid | SettingsError, Settings | Path.Path> {
  const path = yield* Path.Path
  const settings = yield* Settings
  const name = entry.repo ?? path.basename(path.resolve(projectPath))
  if (!Schema.is(RepositoryWord)(name)) {
    return yield* new ProjectFileInvalid({
      file: path.join(projectPath, platformFileName),
      reason: `${quoted(entry.name)}: repo: the directory's name, ${quoted(name)}, is not a repository name: set repo`
    })
  }
  const owner = yield* (entry.gitOwner === undefined
    ? settings.get("gitHost.owner")
    : Effect.succeed(entry.gitOwner))
  const repository = { owner, name }
  return {
    name: entry.name,
    raw,
    warnings,
    buildPack: entry.buildpack ?? appDefaults.buildPack,
    declaredBuildPack: Option.fromNullable(entry.buildpack),
    repository,
    gitUrl: yield* gitUrlOf(repository),
    branch: entry.branch ?? appDefaults.branch,
    baseDirectory: entry.baseDirectory ?? appDefaults.baseDirectory,
    composeLocation: entry.composeLocation ?? appDefaults.composeLocation,
    isStatic: entry.static === true,
    publishDir: Option.fromNullable(entry.publishDir),
    port: Option.fromNullable(entry.port),
    domain: Option.fromNullable(entry.domain),
    server: Option.fromNullable(entry.server),
    service: Option.fromNullable(entry.service)
  }
})
