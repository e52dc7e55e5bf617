import { Path } from "@effect/platform"
import { Effect, Option, Schema } from "effect"
import type { BuildPack } from "../../schema/applications/DeclaredField.ts"
import { declaredFields, RepositoryWord } from "../../schema/applications/declaredFields.ts"
import type { DeclaredApp, PlatformEntry, RawEntry } from "../../schema/applications/PlatformFile.ts"
import { platformFileName, ProjectFileInvalid } from "../../schema/projects/Project.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { Repository } from "../../schema/webhooks/GitHook.ts"
import { quoteInput } from "../../schema/words/quoted.ts"
import { Settings } from "../../services/settings/Settings.ts"

/** An entry of `platform.json`, with what the settings, the directory and defaults add to it. */
export interface AppPlan {
  readonly name: string
  readonly raw: RawEntry
  /** Entry as declared; `plannedValue` fills in the default of a field. */
  readonly entry: PlatformEntry
  readonly warnings: ReadonlyArray<string>
  readonly buildPack: BuildPack
  readonly repository: Repository
  readonly gitUrl: string
  readonly branch: string
  readonly port: Option.Option<number>
  readonly domain: Option.Option<string>
  readonly server: Option.Option<string>
  readonly service: Option.Option<string>
}

/** Plans an entry whose repository is known. */
export const planEntryWith = (
  { entry, raw, warnings }: DeclaredApp,
  repository: Repository,
  gitUrl: string
): AppPlan => ({
  name: entry.name,
  raw,
  entry,
  warnings,
  buildPack: entry.buildpack ?? declaredFields.buildpack.fallback,
  repository,
  gitUrl,
  branch: entry.branch ?? declaredFields.branch.fallback,
  port: Option.fromNullable(entry.port),
  domain: Option.fromNullable(entry.domain),
  server: Option.fromNullable(entry.server),
  service: Option.fromNullable(entry.service)
})

/** Address of a repository: `git@host:port/owner/name.git`. */
export const buildGitUrl = Effect.fn("buildGitUrl")(function*(
  { name, owner }: Repository
): Effect.fn.Return<string, SettingsError, Settings> {
  const settings = yield* Settings
  const host = yield* settings.get("gitHost.sshHost")
  const port = yield* settings.get("gitHost.sshPort")
  return `git@${host}:${port}/${owner}/${name}.git`
})

/** Fills in the defaults of an entry from the format, the settings and the project's directory. */
export const planEntry = Effect.fn("planEntry")(function*(
  projectPath: string,
  declared: DeclaredApp
): Effect.fn.Return<AppPlan, ProjectFileInvalid | SettingsError, Settings | Path.Path> {
  const { entry } = declared
  const path = yield* Path.Path
  const settings = yield* Settings
  const name = entry.repo ?? path.basename(path.resolve(projectPath))
  if (!Schema.is(RepositoryWord)(name)) {
    return yield* new ProjectFileInvalid({
      file: path.join(projectPath, platformFileName),
      reason: `${quoteInput(entry.name)}: repo: the directory's name, ${
        quoteInput(name)
      }, is not a repository name: set repo`
    })
  }
  const owner = yield* (entry.gitOwner === undefined
    ? settings.get("gitHost.owner")
    : Effect.succeed(entry.gitOwner))
  const repository = { owner, name }
  return planEntryWith(declared, repository, yield* buildGitUrl(repository))
})
