import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { planPrune, prune, showDiskUse } from "../../../src/pipelines/disks.ts"
import { rollback } from "../../../src/pipelines/releases/rollback.ts"
import { berth, project, realServer } from "../../fixtures/docker/realProject.ts"
import { diskEngine, startDiskEngine } from "../../fixtures/engines/diskEngine.ts"
import { startSshd } from "../../fixtures/network/openssh.ts"
import { patience } from "../../fixtures/patience.ts"

const title = diskEngine.title(realServer.title("a clean-up of a real disk"))
const label = (directory: string) => `com.docker.compose.project.working_dir=${directory}`
const ids = (all: ReadonlyArray<{ readonly id: string }>) => all.map(({ id }) => id).sort()

describe.skipIf(!diskEngine.available || !realServer.available)(title, { timeout: 240_000 * patience }, () => {
  it.scopedLive("removes what its plan names, and nothing that a release, a container or a volume needs", () =>
    Effect.gen(function*() {
      const engine = yield* startDiskEngine({ mebibytes: 500 })
      const { build, docker } = engine
      const sshd = yield* startSshd({ config: [`SetEnv DOCKER_HOST=${engine.host}`] })
      const user = yield* sshd.makeUser({ groups: ["docker"] })
      const server = user.access(undefined, { name: "Main" })
      const shop = yield* project
      yield* shop.compose([`image: ${shop.image}`, "network_mode: none", "stop_signal: SIGKILL"])
      const request = { projectPath: shop.directory, serverId: server.id, remotePath: `~/containers/${shop.name}` }
      const imageOf = (name: string) => docker("image", "inspect", "--format", "{{.Id}}", name)

      yield* Effect.gen(function*() {
        // Three versions with two releases kept: the first image stays as long as a container of somebody else uses it.
        yield* shop.build("one")
        yield* deploy(request)
        const first = yield* imageOf(shop.image)
        yield* docker("run", "-d", "--network", "none", "--name", "curious", first)
        yield* shop.build("two")
        yield* deploy(request)
        const second = yield* imageOf(shop.image)
        yield* shop.build("three")
        yield* deploy(request)
        const third = yield* imageOf(shop.image)
        // A stack of somebody else, stopped, with its volume; a tool's image; an image that lost its name; a volume.
        const database = yield* build("database:1", 2)
        const volume = ["-v", "db_data:/data", "--label", label("/srv/db")]
        yield* docker("run", "-d", "--network", "none", "--name", "db", ...volume, "database:1")
        yield* docker("stop", "-t", "0", "db")
        const tool = yield* build("tool:1", 20)
        const nameless = yield* build("lost:1", 3)
        yield* build("lost:1", 4)
        yield* docker("volume", "create", "old_data")
        const lost = yield* imageOf("lost:1")

        const none = yield* planPrune(server.id, {})
        expect(none.remove).toEqual([])
        expect(none.keep.find(({ id }) => id === first)?.because).toBe("the container curious uses it")
        yield* docker("rm", "-f", "curious")

        const own = yield* planPrune(server.id, {})
        expect(ids(own.remove)).toEqual([first])
        const options = { others: true, volumes: ["old_data", "db_data", "none"] }
        const all = yield* planPrune(server.id, options)
        expect(ids(all.remove)).toEqual([first, lost, nameless, tool, "old_data"].sort())
        expect(all.keep.map(({ because, id }) => [id, because])).toEqual(expect.arrayContaining([
          [second, `release 2 of ${user.home}/containers/${shop.name} needs it`],
          [third, `release 3 of ${user.home}/containers/${shop.name} needs it`],
          [database, "the container db uses it"],
          ["db_data", "the container db uses it"],
          ["none", "there is no such volume"]
        ]))
        const young = yield* planPrune(server.id, { others: true, olderThan: Duration.days(1) })
        expect(young.remove).toEqual([])

        const use = yield* showDiskUse(server.id)
        const owners = new Map(use.images.map(({ id, owner }) => [id, owner]))
        expect([first, third, database, tool, nameless].map((id) => owners.get(id)?.kind)).toEqual([
          "nobody",
          "release",
          "stack",
          "foreign",
          "nobody"
        ])
        expect(use.logs.find(({ container }) => container === "db")).toEqual({
          container: "db",
          bytes: null,
          limit: null
        })
        expect(use.disks.find(({ mount }) => mount === engine.data)?.inodes).toBeGreaterThan(0)

        // A container that is started between the plan and the clean-up keeps its image, with its name.
        yield* docker("run", "-d", "--network", "none", "--name", "late", "lost:1")
        yield* docker("tag", nameless, "found:1")
        const wrong = yield* Effect.flip(prune(server.id, { planHash: all.planHash }))
        expect(wrong).toMatchObject({ _tag: "PruneMoved", status: 409 })
        const done = yield* prune(server.id, { ...options, planHash: all.planHash })
        expect(ids(done.removed)).toEqual([first, tool, "old_data"].sort())
        expect(done.skipped.map(({ because, id }) => [id, because]).sort()).toEqual([
          [lost, "the container late uses it"],
          [nameless, "it has other names since"]
        ].sort())
        expect(done.freed).toBeGreaterThan(20_000_000)
        expect(done.freed).toBeLessThan(60_000_000)
        for (const id of [second, third, database, lost, nameless]) yield* docker("image", "inspect", id)
        expect(yield* docker("volume", "ls", "-q")).toContain("db_data")
        expect(yield* docker("image", "inspect", "--format", "{{.RepoTags}}", lost)).toBe("[lost:1]")

        const back = yield* rollback({ serverId: server.id, remotePath: request.remotePath, release: "2" })
        expect(back).toMatchObject({ success: true })
        expect(yield* docker("ps", "--no-trunc", "--format", "{{.Image}}", "--filter", `name=${shop.name}`))
          .toBeTruthy()
      }).pipe(Effect.provide(berth(server, { "deploy.keepReleases": 2 })))
    }))
})
