import { HttpClient } from "@effect/platform"
import { Context, Effect, Layer, Option, Redacted, Ref, type Scope } from "effect"
import { type CoolifyDouble, makeCoolifyDouble } from "../../../src/sandbox/coolify.ts"
import type { CoolifySeed } from "../../../src/sandbox/coolifyRecords.ts"
import {
  type GitHostDouble,
  type GitHostSeed,
  makeGiteaDouble,
  makeGitHostDouble
} from "../../../src/sandbox/gitHost.ts"
import type { HttpDouble, SandboxFailed } from "../../../src/sandbox/httpDouble.ts"
import { makePlatformDouble } from "../../../src/sandbox/platform.ts"
import type { PlatformSeed } from "../../../src/sandbox/records.ts"
import { GitHostLive } from "../../../src/services/githost.ts"
import { PlatformLive } from "../../../src/services/platform/PlatformLive.ts"
import { BoundedClient, UpstreamLive } from "../../../src/services/upstream/Upstream.ts"
import { contracts } from "../../fixtures/contracts.ts"
import { type MemoryWorld, memoryWorld, platformServers } from "./memoryWorld.ts"

/** API of the platform and the git host. */
export type Vendor = "neutral" | "coolify and gitea" | "coolify and forgejo"
export const vendors: ReadonlyArray<Vendor> = ["neutral", "coolify and gitea", "coolify and forgejo"]

/** An application that is there from the start, in words that every vendor has. */
export interface SeededApp {
  readonly name: string
  readonly uuid: string
  readonly git_repository?: string
  readonly envs?: Readonly<Record<string, string>>
}

export interface VendorWorld extends Pick<MemoryWorld, "files" | "proxy" | "settings" | "without"> {
  readonly apps?: ReadonlyArray<SeededApp>
  readonly gitHost?: GitHostSeed
  /** Features that only Coolify has. */
  readonly coolify?: CoolifySeed
  /** Paths of the addresses in the settings; those of the vendors' APIs unless given. */
  readonly paths?: { readonly platform?: string; readonly gitHost?: string }
  /** The token may read values and secrets, where the vendor knows such a permission. */
  readonly sensitive?: boolean
}

/** The vendors' doubles, and what they turned down. */
export class Vendors extends Context.Tag("berth/test/Vendors")<Vendors, {
  readonly vendor: Vendor
  readonly platform: HttpDouble
  readonly coolify: Option.Option<CoolifyDouble>
  readonly gitHost: GitHostDouble
  /** Refused calls, and violations of the vendors' own descriptions. */
  readonly refusals: Effect.Effect<ReadonlyArray<string>>
}>() {}

const platformToken = Redacted.make("platform-token")
const gitToken = Redacted.make("git-token")

interface MadePlatform {
  readonly platform: HttpDouble
  readonly coolify: Option.Option<CoolifyDouble>
}

const makePlatform = (vendor: Vendor, world: VendorWorld): Effect.Effect<MadePlatform, SandboxFailed, Scope.Scope> => {
  const { apps = [], coolify = {}, sensitive } = world
  if (vendor === "neutral") {
    const seed: PlatformSeed = { servers: platformServers, applications: apps }
    return Effect.map(makePlatformDouble({ token: platformToken, seed }), (platform) => ({
      platform,
      coolify: Option.none()
    }))
  }
  const envsOf = (envs: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(envs).map(([key, value]) => [key, { value }]))
  const seed: CoolifySeed = {
    servers: platformServers,
    ...coolify,
    applications: [...apps.map((app) => ({ ...app, envs: envsOf(app.envs) })), ...(coolify.applications ?? [])]
  }
  return Effect.map(
    makeCoolifyDouble({ token: platformToken, seed, ...(sensitive === undefined ? {} : { sensitive }) }),
    (double) => ({ platform: double, coolify: Option.some(double) })
  )
}

const doubles = (vendor: Vendor, world: VendorWorld, refused: Effect.Effect<ReadonlyArray<string>>) =>
  Layer.scoped(
    Vendors,
    Effect.gen(function*() {
      const seed = { repositories: { "ann/shop": [] }, ...world.gitHost }
      const { coolify, platform } = yield* makePlatform(vendor, world)
      const gitHost = yield* (vendor === "neutral" ? makeGitHostDouble : makeGiteaDouble)({ token: gitToken, seed })
      const against = (double: HttpDouble, contract: typeof contracts.platform) =>
        Effect.map(double.calls, (calls) =>
          vendor === "neutral" ? [] : Option.match(contract, {
            onNone: () => [],
            onSome: (of) => calls.flatMap(of)
          }))
      const refusals = Effect.map(
        Effect.all([refused, against(platform, contracts.platform), against(gitHost, contracts.gitHost)]),
        (all) => all.flat()
      )
      return { vendor, platform, coolify, gitHost, refusals }
    })
  )

/** The world of `memoryWorld`, with the doubles of a vendor that are called over HTTP. */
export const vendorWorld = (vendor: Vendor, world: VendorWorld = {}) =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const refused = yield* Ref.make<ReadonlyArray<string>>([])
    const watched = Layer.map(BoundedClient, (context) =>
      Context.make(
        HttpClient.HttpClient,
        HttpClient.tap(Context.get(context, HttpClient.HttpClient), ({ request, status }) =>
          status < 400
            ? Effect.void
            : Ref.update(refused, (all) => [...all, `${request.method} ${new URL(request.url).pathname}: ${status}`]))
      ))
    const upstreams = Layer.mergeAll(PlatformLive, GitHostLive).pipe(
      Layer.provide(Layer.provide(UpstreamLive, watched))
    )
    const memory = Layer.unwrapEffect(Effect.gen(function*() {
      const { gitHost, platform } = yield* Vendors
      const { files, proxy, settings, without } = world
      return memoryWorld({
        ...(files === undefined ? {} : { files }),
        ...(proxy === undefined ? {} : { proxy }),
        ...(without === undefined ? {} : { without }),
        settings: {
          "platform.profile": vendor === "neutral" ? "neutral" : "coolify",
          "platform.url": vendor === "neutral" ? platform.url : `${platform.url}${world.paths?.platform ?? "/api/v1"}`,
          "platform.webhookUrl": "https://platform.test",
          "gitHost.profile": vendor === "neutral" ? "neutral" : vendor === "coolify and gitea" ? "gitea" : "forgejo",
          "gitHost.url": `${gitHost.url}${world.paths?.gitHost ?? ""}`,
          ...settings
        }
      })
    }))
    return Layer.provideMerge(upstreams, memory).pipe(Layer.provideMerge(doubles(vendor, world, Ref.get(refused))))
  }))
