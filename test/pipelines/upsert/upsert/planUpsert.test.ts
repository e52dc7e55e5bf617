import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { bindToPlan, decideUpsert, planUpsert, upsertApp } from "../../../../src/pipelines/upsert/upsert.ts"
import { GitHostCalls, PlatformCalls } from "../../../../src/testing/PlatformTest.ts"
import { ProxyFileText } from "../../../../src/testing/SshTest.ts"
import { inPart } from "../../../fixtures/thorough.ts"
import { declaring, type MemoryWorld, memoryWorld } from "../../../layers/worlds/memoryWorld.ts"
import { live, planCases, there } from "../planCases.ts"

const request = { projectPath: "/srv/shop" }
const within = (world: MemoryWorld) => <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.provide(program, memoryWorld(world))

const reading = ["applications", "application", "envs", "servers", "webhookSecretSet", "hooks"]
/** Write calls in their order. */
const written = Effect.gen(function*() {
  const platform = (yield* Effect.flatten(PlatformCalls)).map(([operation]) => String(operation))
  const { asked } = yield* GitHostCalls
  const gitHost = (yield* asked).map(([operation]) => String(operation))
  return [...platform, ...gitHost].filter((operation) => !reading.includes(operation))
})
/** The calls of a plan that reach the platform or the git host. */
const outbound = (writes: ReadonlyArray<string>) =>
  writes.filter((write) => write !== "proxyFile" && write !== "changelog")

const recorded = ["changelog", "deployment"]

/** Ways to apply an upsert: by itself, or bound to an earlier plan. */
const alone = ["an upsert", () => upsertApp(request)] as const
const held = [
  "an upsert that is held to it",
  (planHash: string) =>
    Effect.flatMap(bindToPlan({ ...request, planHash }), (decisions) => upsertApp(request, decisions))
] as const
// That upserts of either kind do the same is also a property of all plans.
const ways = inPart([alone, held], [held])

describe.each(ways)("a plan and %s", (_, apply) => {
  it.effect.each(planCases)(
    "$step, $kind: $detail",
    ({ detail, fields = [], kind, leavesOut = [], remains = [], step, stops, unknown = "", warns, will, world }) =>
      Effect.gen(function*() {
        const proxyBefore = yield* Effect.flatten(ProxyFileText)
        const { writes } = yield* decideUpsert(request)
        const first = yield* planUpsert(request)
        expect(yield* written).toEqual([])
        expect(yield* Effect.flatten(ProxyFileText)).toBe(proxyBefore)

        const planned = first.steps.find((one) => one.step === step)
        expect(planned?.detail).toContain(detail)
        const expected = kind === "unreadable" ? planned?.will : kind === "refused" ? will ?? "skip" : kind
        expect(planned?.will).toBe(expected)
        if (kind === "unreadable" && warns === undefined) expect(first.unknown.join("\n")).toMatch(/./)
        expect(first.unknown.join("\n")).toContain(unknown)
        expect(first.warnings.join("\n")).toContain(warns ?? "")
        if (fields.length > 0) {
          expect(first.changes.filter(({ target }) => !recorded.includes(target)).map(({ field }) => field))
            .toEqual(expect.arrayContaining([...fields]))
          const only = step === "webhook" ? [] : fields.includes("fqdn") ? ["deployment"] : recorded
          expect(first.changes.map(({ target }) => target).filter((target) => recorded.includes(target))).toEqual(only)
        }

        const outcome = yield* Effect.either(apply(first.planHash))
        expect(outcome._tag).toBe(stops === undefined ? "Right" : "Left")
        if (stops !== undefined) expect(outcome).toMatchObject({ left: { step: stops, status: 500 } })
        const foreseen = first.warnings.filter((words) => words.includes("an upsert would stop here"))
        const isForeseen = stops !== undefined && will === undefined
        expect(foreseen).toEqual(isForeseen ? [expect.stringContaining(`${stops}: an upsert would stop here`)] : [])
        const made = outbound(writes).filter((write) => !leavesOut.includes(write))
        // The refused call was made, and none after it.
        expect(yield* written).toEqual(
          stops === undefined || isForeseen ? made : made.slice(0, (yield* written).length)
        )

        const second = yield* planUpsert(request)
        if (isForeseen) {
          expect(second.steps.find((one) => one.step === step)).toEqual(planned)
        } else if (second.action !== "create") {
          expect(second.changes.map(({ field }) => field)).toEqual(remains)
          expect(second.action).toBe(remains.length === 0 ? "none" : "update")
        }
      }).pipe(within(world))
  )
})

describe("plan", () => {
  it.effect.each<[string, MemoryWorld, number, string]>([
    ["no project file", {}, 500, "No project file found"],
    ["a file that is not valid", { files: declaring({ port: 1 }) }, 422, "entry 1: name is missing"],
    ["a domain without a port", { files: declaring({ name: "shop", domain: "a.example.com" }) }, 500, "no port"],
    [
      "an unknown server",
      { files: declaring({ name: "shop", server: "no" }) },
      500,
      "The platform has no server \"no\""
    ],
    [
      "servers that cannot be read",
      {
        files: declaring({ name: "shop", server: "web" }),
        platform: { failing: { servers: 503 } }
      },
      502,
      "(an upsert would stop at server)"
    ],
    [
      "a platform that does not answer",
      {
        files: declaring({ name: "shop" }),
        platform: { failing: { applications: 503 } }
      },
      502,
      "(an upsert would stop at check)"
    ],
    [
      "a platform that refuses the full record",
      { files: declaring({ name: "shop" }), platform: { applications: [live], failing: { application: 403 } } },
      502,
      "Platform API 403: not today (an upsert would stop at check)"
    ],
    [
      "a project file that cannot be read",
      { files: { "/srv/shop/platform.json": { directory: true } } },
      422,
      "(an upsert would stop at config)"
    ]
  ])("cannot be made with %s, and the upsert stops there", ([, world, status, message]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(planUpsert(request))
      expect(error.status).toBe(status)
      expect(error.message).toContain(message)
      const stopped = yield* Effect.flip(upsertApp(request))
      expect([stopped.step, stopped.reason]).toEqual(["step" in error && error.step, "reason" in error && error.reason])
      expect(yield* written).toEqual([])
    }).pipe(within(world)))

  it.effect("shows no secret", () =>
    Effect.gen(function*() {
      const text = JSON.stringify(yield* planUpsert(request))
      expect(text).toContain("manual_webhook_secret_githost")
      expect(text).not.toContain("hook-secret")
      expect(text).not.toContain("another-secret")
      expect(text).not.toContain("platform-token")
    }).pipe(within(there({
      applications: [{
        ...live,
        manual_webhook_secret_githost: "another-secret",
        git_repository: "https://platform-token@git.test/a.git"
      }]
    }))))

  it.effect("says that a hidden secret is unknown, and not that it changes", () =>
    Effect.gen(function*() {
      const { action, unknown } = yield* planUpsert(request)
      expect(action).toBe("none")
      expect(unknown).toEqual([expect.stringContaining("the secret of webhook 1")])
    }).pipe(within(there())))
})
