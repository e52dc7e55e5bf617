import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import { verify } from "../../../src/pipelines/verify.ts"
import { HttpsFailed } from "../../../src/schema/applications.ts"
import { Ssh } from "../../../src/services/ssh/Ssh.ts"
import { HttpsProbe } from "../../../src/services/tls.ts"
import { declaring, memoryWorld } from "../../layers/worlds/memoryWorld.ts"

const request = { projectPath: "/srv/shop" }
const stuck = Effect.uninterruptible(Effect.never)
const sshThat = (exec: Ssh["Type"]["exec"]) =>
  Layer.succeed(Ssh, Ssh.of({ exec, spawn: () => Effect.dieMessage("not in this test") }))
const world = (entries: unknown) =>
  memoryWorld({
    files: declaring(entries),
    platform: { applications: [{ name: "shop", status: "running" }] }
  })

describe("a hop", () => {
  it.effect("takes 15 seconds at most, whatever holds it", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(verify(request))
      yield* TestClock.adjust("16 seconds")
      const { failing, hops } = yield* fiber
      expect(failing).toBe("port")
      expect(hops.map(({ detail, ok }) => [ok, detail])).toEqual([
        [true, "The platform says: running"],
        [false, "No answer within 15 seconds"],
        [false, "No answer within 15 seconds"],
        [false, "No answer within 15 seconds"]
      ])
    }).pipe(
      Effect.provide(sshThat(() => stuck)),
      Effect.provide(Layer.succeed(HttpsProbe, { ask: () => stuck })),
      Effect.provide(world({ name: "shop", port: 2010, domain: "shop.example.com" }))
    ))

  it.effect("that cannot be walked says why, and shows no secret", () =>
    Effect.gen(function*() {
      const { hops } = yield* verify(request)
      expect(hops.map(({ detail }) => detail).slice(1)).toEqual([
        "Whether 192.168.1.20:2010, seen from \"Main\", takes connections cannot be told: \"Main\" has neither nc nor bash " +
        "nor curl",
        expect.stringContaining("cat: Permission denied"),
        "https://shop.example.com does not answer at 192.168.1.20: it sent *** back"
      ])
    }).pipe(
      Effect.provide(sshThat(() => Effect.succeed({ code: 2, stdout: "", stderr: "cat: Permission denied" }))),
      Effect.provide(Layer.succeed(HttpsProbe, {
        ask: () => Effect.fail(new HttpsFailed({ reason: "it sent platform-token back" }))
      })),
      Effect.provide(world({ name: "shop", port: 2010, domain: "shop.example.com" }))
    ))

  it.effect.each([
    ["no application", []],
    ["a list of domains", { name: "shop", port: 2010, domain: "a.example.com,b.example.com" }]
  ])("is not walked for %s", ([, entries]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(verify(request))
      expect("status" in error && error.status).toBe(422)
    }).pipe(
      Effect.provide(sshThat(() => stuck)),
      Effect.provide(Layer.succeed(HttpsProbe, { ask: () => stuck })),
      Effect.provide(world(entries))
    ))
})
