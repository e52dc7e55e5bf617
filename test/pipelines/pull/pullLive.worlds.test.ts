import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, Redacted, Ref, Schedule } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { createReadStream } from "node:fs"
import { chmod, open, readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { pull } from "../../../src/pipelines/pull.ts"
import { makeSshServer } from "../../../src/sandbox/sshServer.ts"
import type { ServerAccess } from "../../../src/schema/ssh.ts"
import { LocalFilesLive } from "../../../src/services/local/LocalFiles.ts"
import { runsTest } from "../../../src/testing/RunsTest.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"
import { sandboxWorld, sandboxWorlds, worlds } from "../../fixtures/network/servers.ts"
import { patience } from "../../fixtures/patience.ts"
import { inPart } from "../../fixtures/thorough.ts"
import { temporaryDirectory } from "../../layers/temporary.ts"
import { liveSsh } from "../../services/ssh/live.ts"

const mebibyte = 1024 * 1024
const live = (access: ServerAccess) =>
  Layer.mergeAll(
    Layer.provideMerge(LocalFilesLive, NodeContext.layer),
    Layer.provide(runsTest, settingsTest()),
    liveSsh(),
    settingsTest({}, [access])
  )

const writeLarge = (file: string, mebibytes: number) =>
  Effect.promise(async () => {
    const handle = await open(file, "w", 0o644)
    const block = randomBytes(mebibyte)
    for (let index = 0; index < mebibytes; index++) {
      block.writeUInt32BE(index, 0)
      await handle.write(block)
    }
    await handle.close()
  })
const sha256 = (file: string) =>
  Effect.promise(async () => {
    const hash = createHash("sha256")
    for await (const chunk of createReadStream(file)) hash.update(chunk)
    return hash.digest("hex")
  })

/** Peak growth of this process's memory while the effect ran, in MiB. */
const growth = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const before = process.memoryUsage.rss()
    const most = yield* Ref.make(before)
    const watch = yield* Ref.update(most, (seen) => Math.max(seen, process.memoryUsage.rss())).pipe(
      Effect.repeat(Schedule.spaced(Duration.millis(20))),
      Effect.fork
    )
    const result = yield* effect
    yield* Fiber.interrupt(watch)
    return { result, grownBy: ((yield* Ref.get(most)) - before) / mebibyte }
  })

const size = inPart(300, 30)

describe.each(worlds)("pull from $name", ({ available, server: start }) => {
  it.scopedLive.skipIf(!available)(`brings ${size} MB byte for byte in little memory`, () =>
    Effect.gen(function*() {
      const { access, home, plant } = yield* start()
      const root = yield* temporaryDirectory
      yield* plant({ "containers/app/data/small": "x" })
      const large = join(home, "containers", "app", "data", "large.bin")
      yield* writeLarge(large, size)
      const { grownBy, result } = yield* growth(
        pull({
          serverId: "server",
          files: [{
            name: "data",
            remotePath: "~/containers/app/data",
            localPath: join(root, "data"),
            type: "directory"
          }]
        }).pipe(Effect.provide(live(access)))
      )
      expect(result).toEqual({
        pulled: [{ name: "data", localPath: join(root, "data"), files: 2, bytes: size * mebibyte + 1 }],
        errors: []
      })
      expect(yield* sha256(join(root, "data", "large.bin"))).toBe(yield* sha256(large))
      expect(grownBy).toBeLessThan(200)
    }), 120_000 * patience)

  it.scopedLive.skipIf(!available)(
    "brings many files with odd names, and neither links nor pipes",
    () =>
      Effect.gen(function*() {
        const { access, plant } = yield* start()
        const root = yield* temporaryDirectory
        const names = ["$(touch RAN)", "line\nbreak", "-rf", "it's", "ü €", " edge ", "..a"]
        yield* plant({
          ...Object.fromEntries(names.map((name) => [`data/${name}/${name}`, name])),
          ...Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`data/many/${index}`, String(index)])),
          "data/link": { link: "/etc" },
          "data/empty/nothing": ""
        })
        const result = yield* pull({
          serverId: "server",
          files: [{ name: "data", remotePath: "~/data", localPath: join(root, "data"), type: "directory" }]
        }).pipe(Effect.provide(live(access)))
        expect(result.errors).toEqual([])
        expect(result.pulled).toMatchObject([{ files: names.length + 301 }])
        for (const name of names) {
          expect(yield* Effect.promise(() => readFile(join(root, "data", name, name), "utf8"))).toBe(name)
        }
        expect(yield* Effect.promise(() => readdir(join(root, "data")))).not.toContain("link")
      }),
    60_000 * patience
  )

  it.scopedLive.skipIf(!available)(
    "names what it may not read, and leaves no part of it",
    () =>
      Effect.gen(function*() {
        const { access, home, isRoot, plant } = yield* start()
        const root = yield* temporaryDirectory
        yield* plant({ "a/closed": "x", "b": "b" })
        yield* Effect.promise(() => chmod(join(home, "a", "closed"), 0))
        const result = yield* pull({
          serverId: "server",
          files: [
            { name: "a", remotePath: "~/a/closed", localPath: join(root, "closed"), type: "file" },
            { name: "none", remotePath: "~/none", localPath: join(root, "none"), type: "file" },
            { name: "b", remotePath: "~/b", localPath: join(root, "b"), type: "file" }
          ]
        }).pipe(Effect.provide(live(access)))
        const closed = isRoot ? [] : [{ name: "a", error: expect.stringMatching(/a\/closed.*permission denied/) }]
        expect(result.errors).toEqual([...closed, { name: "none", error: expect.stringMatching(/none.*no such file/) }])
        const arrived = yield* Effect.promise(() => readdir(root))
        expect(arrived.sort()).toEqual(isRoot ? ["b", "closed"] : ["b"])
      }),
    60_000 * patience
  )

  it.scopedLive.skipIf(!available)("fails as a whole where nobody listens", () =>
    Effect.gen(function*() {
      const { access } = yield* start()
      const root = yield* temporaryDirectory
      const files = [{ name: "b", remotePath: "~/b", localPath: join(root, "b"), type: "file" }] as const
      const error = yield* Effect.flip(
        pull({ serverId: "server", files }).pipe(Effect.provide(live({ ...access, port: 1 })))
      )
      expect(error).toMatchObject({ _tag: "ServerUnreachable", status: 502 })
    }), 60_000 * patience)
})

describe.skipIf(!sandboxWorld.available).each(sandboxWorlds)("pull over a connection that breaks, on $name", () => {
  it.scopedLive("tells what did not arrive, and leaves no part of it", () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      const root = yield* temporaryDirectory
      const password = Redacted.make("sandbox")
      const server = yield* makeSshServer({ home, password })
      yield* writeLarge(join(home, "large.bin"), 100)
      const { host, port, username } = server
      const access = { id: "server", name: "S", host, port, username, useSudo: false, credentials: { password } }
      const item = {
        name: "large",
        remotePath: "~/large.bin",
        localPath: join(root, "large.bin"),
        type: "file"
      } as const
      const begun = Effect.promise(() => readdir(root)).pipe(
        Effect.delay(Duration.millis(5)),
        Effect.repeat({ until: (names) => names.length > 0 })
      )
      const pulling = yield* Effect.fork(
        pull({ serverId: "server", files: [item] }).pipe(Effect.provide(live(access)))
      )
      yield* begun
      yield* server.cutConnections
      const result = yield* Fiber.join(pulling)
      expect(result).toEqual({ pulled: [], errors: [{ name: "large", error: expect.stringContaining("lost") }] })
      expect(yield* Effect.promise(() => readdir(root))).toEqual([])
    }), 60_000 * patience)
})
