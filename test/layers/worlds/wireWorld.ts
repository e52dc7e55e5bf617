import { Context, Effect, Layer, Redacted, Struct } from "effect"
import { type GitHostDouble, type GitHostSeed, makeGitHostDouble } from "../../../src/sandbox/gitHost.ts"
import type { CallPattern, HttpFault, RecordedCall } from "../../../src/sandbox/httpDouble.ts"
import { makePlatformDouble, type PlatformDouble } from "../../../src/sandbox/platform.ts"
import type { PlatformSeed } from "../../../src/sandbox/records.ts"
import { GitHostLive } from "../../../src/services/githost.ts"
import { PlatformLive } from "../../../src/services/platform/PlatformLive.ts"
import { BoundedClient, UpstreamLive } from "../../../src/services/upstream/Upstream.ts"
import type { SettingsFixture } from "../../../src/testing/SettingsTest.ts"
import { type MemoryWorld, memoryWorld, platformServers } from "./memoryWorld.ts"

/** The platform and the git host that are called over HTTP. */
export class Doubles extends Context.Tag("berth/test/Doubles")<Doubles, {
  readonly platform: PlatformDouble
  readonly gitHost: GitHostDouble
}>() {}

export interface WireWorld extends Pick<MemoryWorld, "files" | "proxy" | "without"> {
  readonly settings?: SettingsFixture
  readonly platform?: PlatformSeed
  readonly gitHost?: GitHostSeed
  readonly faults?: ReadonlyArray<{
    readonly of: "platform" | "gitHost"
    readonly call: CallPattern
    readonly fault: HttpFault
    readonly times?: number
  }>
}

const doubles = ({ faults = [], gitHost, platform }: WireWorld) =>
  Layer.scoped(
    Doubles,
    Effect.gen(function*() {
      const made = {
        platform: yield* makePlatformDouble({
          token: Redacted.make("platform-token"),
          seed: { servers: platformServers, ...platform }
        }),
        gitHost: yield* makeGitHostDouble({
          token: Redacted.make("git-token"),
          seed: { repositories: { "ann/shop": [] }, ...gitHost }
        })
      }
      yield* Effect.forEach(faults, ({ call, fault, of, times = 1 }) => made[of].fail(call, fault, { times }))
      return made
    })
  )

const upstreamsLive = Layer.mergeAll(PlatformLive, GitHostLive).pipe(
  Layer.provide(Layer.provide(UpstreamLive, BoundedClient))
)

/** The world of `memoryWorld`, with a platform and a git host that are called over HTTP. */
export const wireWorld = (world: WireWorld = {}) =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const { gitHost, platform } = yield* Doubles
    const settings = {
      "platform.url": platform.url,
      "platform.webhookUrl": "https://platform.test",
      "gitHost.url": gitHost.url,
      ...world.settings
    }
    return Layer.provideMerge(
      upstreamsLive,
      memoryWorld({ ...Struct.pick(world, "files", "proxy", "without"), settings })
    )
  })).pipe(Layer.provideMerge(doubles(world)))

/** A call as its line, with its body where there is one. */
export const shown = ({ body, method, path, query }: RecordedCall) => {
  const search = new URLSearchParams(query).toString()
  const line = `${method} ${path}${search === "" ? "" : `?${search}`}`
  return body === undefined ? line : [line, body]
}

/** The calls that were made, in that order: method and path, and the body where there was one. */
export const sent = Effect.flatMap(Doubles, ({ gitHost, platform }) =>
  Effect.all({
    platform: Effect.map(platform.calls, (calls) => calls.map(shown)),
    gitHost: Effect.map(gitHost.calls, (calls) => calls.map(shown))
  }))
