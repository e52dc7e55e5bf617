import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Effect, Schema, type Scope } from "effect"
import { parse, stringify } from "yaml"
import { type CoolifyDouble, makeCoolifyDouble } from "./coolifyDouble.ts"
import { makeGiteaDouble } from "./giteaDouble.ts"
import type { GitHostDouble } from "./gitHostDouble.ts"
import { SandboxFailed } from "./ports/SandboxFailed.ts"
import { makeWorld, type World } from "./world.ts"

/** World with Coolify as platform and Gitea as git host. */
export interface CoolifyWorld extends Omit<World, "platform" | "gitHost"> {
  readonly platform: CoolifyDouble
  readonly gitHost: GitHostDouble
}

const Section = Schema.Record({ key: Schema.String, value: Schema.Unknown })
const SettingsText = Schema.Struct(
  { platform: Section, gitHost: Schema.Struct({ owner: Schema.String }, Section) },
  Section
)

const failed = (error: { readonly message: string }) => new SandboxFailed({ part: "settings", reason: error.message })

/** Coolify's names of the build packs, written down independently of the code under test. */
const buildPacks: Readonly<Record<string, string>> = {
  composestack: "dockercompose",
  autopack: "nixpacks",
  imagefile: "dockerfile"
}

/** Converts the neutral world's platform to Coolify's records. */
const seedFromNeutral = ({ platform: { state } }: World) =>
  Effect.gen(function*() {
    const applications = yield* Effect.forEach(yield* state.applications, (app) =>
      Effect.gen(function*() {
        const envs = yield* Effect.orElseSucceed(state.envs(app.uuid), () => [])
        const { build_pack, compose_location, fqdn, git_branch, git_repository, name, status, uuid } = app
        return {
          uuid,
          name,
          status,
          git_repository,
          git_branch,
          build_pack: buildPacks[String(build_pack)] ?? String(build_pack),
          docker_compose_location: compose_location,
          docker_compose_raw: `services:\n  ${name}:\n    image: ${name}\n`,
          docker_compose_domains: fqdn === null ? null : JSON.stringify({ [name]: { domain: fqdn } }),
          envs: Object.fromEntries(envs.map(({ key, value }) => [key, { value }]))
        }
      }))
    return { servers: state.servers, applications }
  })

/** Starts `makeWorld` with Coolify and Gitea, and selects them in its settings. */
export const makeCoolifyWorld: Effect.Effect<CoolifyWorld, SandboxFailed, Scope.Scope> = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const world = yield* makeWorld
  const text = yield* Effect.mapError(files.readFileString(world.settingsFile), failed)
  const settings = yield* Effect.mapError(
    Effect.flatMap(
      Effect.try({ try: (): unknown => parse(text), catch: (cause) => new Error(String(cause)) }),
      Schema.decodeUnknown(SettingsText)
    ),
    failed
  )
  const { owner } = settings.gitHost
  const platform = yield* makeCoolifyDouble({ token: world.platform.token, seed: yield* seedFromNeutral(world) })
  const gitHost = yield* makeGiteaDouble({
    token: world.gitHost.token,
    seed: { repositories: { [`${owner}/hello`]: [], [`${owner}/notes`]: [], [`${owner}/greeter`]: [] } }
  })
  const changed = {
    ...settings,
    platform: { ...settings.platform, profile: "coolify", url: `${platform.url}/api/v1` },
    gitHost: { ...settings.gitHost, profile: "gitea", url: gitHost.url }
  }
  yield* Effect.mapError(files.writeFileString(world.settingsFile, stringify(changed), { mode: 0o600 }), failed)
  return { ...world, platform, gitHost }
}).pipe(Effect.provide(NodeContext.layer))
