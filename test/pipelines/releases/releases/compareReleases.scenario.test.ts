import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { compareReleases } from "../../../../src/pipelines/releases/releases.ts"
import { planRollback } from "../../../../src/pipelines/releases/rollback.ts"
import type { ChangedFile } from "../../../../src/schema/deploys.ts"
import { CurrentCaller } from "../../../../src/services/access/Caller.ts"
import { scene } from "../../../fixtures/docker/deployScene.ts"
import { patience } from "../../../fixtures/patience.ts"

const remotePath = "~/containers/shop"
const noVariables = { added: [], changed: [], removed: [] }

/** A server with three releases: other images, a service more, and files of all kinds that differ. */
const threeReleases = Effect.gen(function*() {
  const stage = yield* scene()
  const { archive, bring, deployed, directory } = stage
  const write = (name: string, text: string | Uint8Array) => writeFileSync(join(directory, name), text)
  const compose = (token: string, more: string) =>
    write("compose.yml", `services:\n  web:\n    image: shop:latest\n    environment: { MODE: ${token} }\n${more}`)
  compose("canary-one", "    env_file: [web.env]\n")
  write("web.env", "W=canary-old\nONLY_OLD=1\n")
  write("conf/app.txt", "one\ntwo\n")
  write("conf/back\\slash", "1")
  write("conf/picture", new Uint8Array([0, 1, 2, 255]))
  yield* bring(archive("one"))
  yield* deployed
  compose("canary-two", "    env_file: [web.env]\n  worker:\n    image: shop:latest\n")
  write("web.env", "W=canary-new\nONLY_NEW=1\n")
  write("conf/app.txt", "one\nthree\n")
  write("conf/back\\slash", "2")
  write("conf/picture", new Uint8Array([0, 1, 2, 254]))
  write("conf/long.txt", "x".repeat(300_000))
  yield* bring(archive("two"))
  yield* deployed
  yield* deployed
  const compared = (from: string, to?: string) =>
    Effect.provide(compareReleases("1", { remotePath, from, to }), stage.berth)
  const of = (files: ReadonlyArray<ChangedFile>, name: string) => files.find((file) => file.name === name)
  return { ...stage, compared, of }
})

const asViewer = Effect.provideService(CurrentCaller, { name: "eve", role: "viewer" as const })

describe("two releases", () => {
  it.scopedLive("are compared by images, files, lines of texts and names of variables", () =>
    Effect.gen(function*() {
      const { compared, of } = yield* threeReleases
      const { files, from, services, to } = yield* compared("1", "2")
      expect([from.id, to.id, to.current]).toEqual(["1", "2", false])
      const [before, after] = [from, to].map(({ images }) => images[0]?.id)
      expect(before).not.toBe(after)
      expect(services).toEqual([
        {
          name: "web",
          change: "changed",
          from: { name: "shop:latest", id: before },
          to: { name: "shop:latest", id: after }
        },
        { name: "worker", change: "new", from: null, to: { name: "shop:latest", id: after } }
      ])
      expect(of(files, "compose.yml")?.diff).toContain("-    environment: { MODE: canary-one }\n")
      expect(of(files, "compose.yml")?.diff).toMatch(/^--- 1\/compose\.yml/)
      expect(of(files, "web.env")).toEqual({
        name: "web.env",
        change: "changed",
        variables: { added: ["ONLY_NEW"], changed: ["W"], removed: ["ONLY_OLD"] }
      })
      expect(of(files, "conf/app.txt")?.diff).toContain("-two\n+three\n")
      expect(of(files, "conf/back\\slash")?.diff).toContain("+2")
      expect(of(files, "conf/picture")).toEqual({ name: "conf/picture", change: "changed" })
      expect(of(files, "conf/long.txt")).toEqual({ name: "conf/long.txt", change: "new" })
      expect(of(files, "conf/a b'c")).toEqual({ name: "conf/a b'c", change: "same" })
      expect(of(files, ".env")).toEqual({ name: ".env", change: "same" })
      expect(JSON.stringify(files)).not.toMatch(/canary-(?:old|new)/)

      const back = yield* compared("2", "1")
      expect(back.services[1]).toMatchObject({ name: "worker", change: "removed", to: null })
      expect(of(back.files, "conf/long.txt")?.change).toBe("removed")
    }), 60_000 * patience)

  it.scopedLive("hold the later one to be the current one, and need both to be kept", () =>
    Effect.gen(function*() {
      const { compared } = yield* threeReleases
      const { files, services, to } = yield* compared("2")
      expect([to.id, to.current]).toEqual(["3", true])
      expect([...files, ...services].every(({ change }) => change === "same")).toBe(true)
      const { message, status } = yield* Effect.flip(Effect.map(compared("2", "9"), () => undefined)).pipe(
        Effect.map((error) => ({ message: error.message, status: "status" in error ? error.status : 0 }))
      )
      expect([status, message]).toEqual([404, expect.stringContaining("There is no release \"9\"")])
    }), 60_000 * patience)

  it.scopedLive(
    "show viewers no value of a variable, here and in the plan of a rollback",
    () =>
      Effect.gen(function*() {
        const { berth, compared, directory, of } = yield* threeReleases
        const shown = yield* asViewer(compared("1", "2"))
        expect(JSON.stringify(shown)).not.toContain("canary")
        expect(of(shown.files, "compose.yml")?.diff).toContain("+  worker:")
        rmSync(directory, { recursive: true })
        const plan = Effect.provide(planRollback({ serverId: "1", remotePath, release: "1" }), berth)
        const { files } = yield* plan
        expect(of(files, "compose.yml")?.diff).toContain("+    environment: { MODE: canary-one }\n")
        expect(of(files, "conf/app.txt")?.diff).toContain("-three\n+two\n")
        expect(of(files, "web.env")?.variables).toEqual({
          ...noVariables,
          added: ["ONLY_OLD"],
          changed: ["W"],
          removed: ["ONLY_NEW"]
        })
        expect(JSON.stringify(files)).not.toMatch(/canary-(?:old|new)/)
        expect(JSON.stringify(yield* asViewer(plan))).not.toContain("canary")
      }),
    60_000 * patience
  )
})
