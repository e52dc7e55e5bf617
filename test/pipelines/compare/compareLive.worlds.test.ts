import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { chmod, chown, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { compare } from "../../../src/pipelines/compare.ts"
import type { ServerAccess } from "../../../src/schema/ssh.ts"
import { LocalFilesLive } from "../../../src/services/local/LocalFiles.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"
import { sshdWorld, sshdWorlds, worlds } from "../../fixtures/network/servers.ts"
import { patience } from "../../fixtures/patience.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"
import { liveSsh } from "../../services/ssh/live.ts"

const deployed = {
  "compose.yml": "services:\n  web:\n    image: a\n",
  ".env": "A=1\nB=2\n",
  "conf/site.conf": "listen 80\n",
  "data/it's \"$(touch RAN)\"\n.txt": "odd",
  "data/x.bin": new Uint8Array([0, 1, 255])
}
const asRemote = Object.fromEntries(
  Object.entries(deployed).map(([name, content]) => [`containers/app/${name}`, content])
)

const project = Effect.gen(function*() {
  const directory = join(yield* temporaryDirectory, "app")
  yield* plant(directory, { ...deployed, "container.json": JSON.stringify({ files: ["conf"] }) })
  return directory
})
const compared = (access: ServerAccess, projectPath: string) =>
  compare({ projectPath, serverId: access.id, remotePath: "~/containers/app" }).pipe(
    Effect.provide([Layer.provideMerge(LocalFilesLive, NodeContext.layer), liveSsh(), settingsTest({}, [access])])
  )

describe.each(worlds)("compare on $name", ({ available, server: start }) => {
  it.scopedLive.skipIf(!available)(
    "is all the same after a deploy, then tells each kind of difference",
    () =>
      Effect.gen(function*() {
        const { access, home, plant: plantRemote } = yield* start()
        const directory = yield* project
        yield* plantRemote(asRemote)
        const same = yield* compared(access, directory)
        expect(same.summary).toEqual({ "same": 5, "different": 0, "local-only": 0, "remote-only": 0 })
        expect(same.warnings).toEqual([])

        yield* Effect.promise(async () => {
          await writeFile(join(directory, "compose.yml"), "services:\n  web:\n    image: b\n")
          await writeFile(join(directory, ".env"), "A=1\nB=3\n")
          await writeFile(join(directory, "data", "x.bin"), new Uint8Array([0, 1, 254]))
          await rm(join(home, "containers", "app", "conf", "site.conf"))
        })
        yield* plantRemote({ "containers/app/data/new\nline": "x" })
        const changed = yield* compared(access, directory)
        expect(changed.files).toEqual([
          {
            name: ".env",
            status: "different",
            localSize: 8,
            remoteSize: 8,
            keys: { different: ["B"], localOnly: [], remoteOnly: [] }
          },
          {
            name: "compose.yml",
            status: "different",
            localSize: 30,
            remoteSize: 30,
            diff: expect.stringContaining("-    image: a\n+    image: b\n")
          },
          { name: "conf/site.conf", status: "local-only", localSize: 10, remoteSize: null },
          { name: "data/it's \"$(touch RAN)\"\n.txt", status: "same", localSize: 3, remoteSize: 3 },
          { name: "data/new\nline", status: "remote-only", localSize: null, remoteSize: 1 },
          { name: "data/x.bin", status: "different", localSize: 3, remoteSize: 3 }
        ])
      }),
    60_000 * patience
  )
})

describe.skipIf(!sshdWorld.available).each(sshdWorlds)("compare with data that containers own, on $name", () => {
  const own = (home: string) =>
    Effect.promise(async () => {
      await chown(join(home, "containers", "app", "data", "x.bin"), 0, 0)
      await chmod(join(home, "containers", "app", "data", "x.bin"), 0o600)
    })

  it.scopedLive("says what it may not read, and judges the rest", () =>
    Effect.gen(function*() {
      const { access, home, plant: plantRemote } = yield* sshdWorld.server()
      const directory = yield* project
      yield* plantRemote(asRemote)
      yield* own(home)
      const result = yield* compared(access, directory)
      expect(result.summary).toEqual({ "same": 4, "different": 0, "local-only": 0, "remote-only": 0 })
      expect(result.warnings).toEqual([expect.stringMatching(/data\/x\.bin.*Permission denied/)])
    }), 60_000 * patience)

  it.scopedLive("reads it through sudo where the server says so", () =>
    Effect.gen(function*() {
      const { access, home, plant: plantRemote } = yield* sshdWorld.server({ sudo: "password" })
      const directory = yield* project
      yield* plantRemote(asRemote)
      yield* own(home)
      const result = yield* compared(access, directory)
      expect(result.summary).toEqual({ "same": 5, "different": 0, "local-only": 0, "remote-only": 0 })
      expect(result.warnings).toEqual([])
    }), 60_000 * patience)

  it.scopedLive("does without sudo where that is refused", () =>
    Effect.gen(function*() {
      const { access, home, plant: plantRemote } = yield* sshdWorld.server()
      const directory = yield* project
      yield* plantRemote(asRemote)
      const asking = { ...access, useSudo: true }
      expect((yield* compared(asking, directory)).summary.same).toBe(5)
      yield* own(home)
      const result = yield* compared(asking, directory)
      expect(result.summary.same).toBe(4)
      expect(result.warnings).toEqual([
        expect.stringMatching(/data\/x\.bin.*Permission denied/),
        expect.stringMatching(/^sudo on "Test" refused: /)
      ])
    }), 60_000 * patience)
})
