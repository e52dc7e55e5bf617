import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { mkdir, readdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { executeStackAction, planStackRemoval } from "../../../src/pipelines/stacks.ts"
import { docker, lines } from "../../fixtures/docker/docker.ts"
import { berth, onServer, project, realServer, withSudo } from "../../fixtures/docker/realProject.ts"
import { patience } from "../../fixtures/patience.ts"

const must = <A>(make: () => Promise<A>) => Effect.promise(make)

describe.skipIf(!realServer.available)(
  realServer.title("a stack on a real server"),
  { timeout: 180_000 * patience },
  () => {
    for (const useSudo of withSudo) {
      it.scopedLive(
        `is stopped, started, restarted and removed, and data/ and volumes stay, ${
          useSudo ? "through sudo" : "as a docker user"
        }`,
        () =>
          Effect.gen(function*() {
            const { server, user } = yield* onServer(useSudo)
            const { answer, build, compose, directory, image, name, usual } = yield* project
            const remotePath = `~/containers/${name}`
            const remote = join(user.home, "containers", name)
            const where = { serverId: server.id, remotePath }
            const running = docker("ps", "-q", "--filter", `name=${name}`)
            yield* build("one")
            yield* compose([...usual, "volumes: [\"kept:/kept\", \"./data:/data\"]"], ["volumes:", "  kept: {}"])
            yield* Effect.gen(function*() {
              for (const action of ["stop", "start", "restart", "remove"] as const) {
                expect(yield* Effect.flip(executeStackAction(action, where))).toMatchObject({ status: 404 })
              }
              expect(existsSync(remote)).toBe(false)

              yield* deploy({ projectPath: directory, ...where })
              expect(yield* executeStackAction("stop", where)).toMatchObject({ success: true, status: "exited" })
              expect(yield* running).toBe("")
              expect(yield* executeStackAction("start", where)).toMatchObject({ success: true, status: "healthy" })
              expect(yield* answer).toBe("one")
              const before = yield* docker("ps", "-q", "--no-trunc", "--filter", `name=${name}`)
              expect(yield* executeStackAction("restart", where)).toMatchObject({ success: true, status: "healthy" })
              expect(yield* docker("ps", "-q", "--no-trunc", "--filter", `name=${name}`)).toBe(before)
              expect(yield* answer).toBe("one")

              yield* must(() => mkdir(join(remote, "data"), { recursive: true }))
              yield* must(() => writeFile(join(remote, "data", "row"), "1"))
              yield* must(() => writeFile(join(remote, "by-hand"), "1"))
              // A container of somebody else holds the image, as long as it is there.
              const holder = yield* docker("create", image, "/none")
              const held = yield* planStackRemoval(where)
              expect(held.images).toEqual([])
              expect(held.stays).toContainEqual({
                kind: "image",
                name: image,
                because: expect.stringMatching(/^the container \S+ uses it$/)
              })
              yield* docker("rm", holder)
              const plan = yield* planStackRemoval(where)
              expect(plan).toMatchObject({ images: [image], containers: [expect.stringContaining(name)], volumes: [] })
              expect(plan.stays.map(({ because, kind, name }) => [kind, name, because])).toEqual([
                ["volume", `${name}_kept`, "volumes stay unless their removal is asked for"],
                ["file", "by-hand", "Berth did not bring it, and it belongs to root"],
                ["directory", "data", "data/ is never removed"]
              ])
              const removed = yield* executeStackAction("remove", where)
              for (const file of plan.files) expect([file, removed.message.includes(file)]).toEqual([file, true])
              expect(removed).toMatchObject({ success: true, status: "missing" })
              expect(removed.message).toContain(`Images: ${image}. `)
              expect(yield* docker("image", "ls", "-aq", image)).toBe("")
              expect(yield* docker("ps", "-aq", "--filter", `name=${name}`)).toBe("")
              expect(yield* must(() => readdir(join(remote, "data")))).toEqual(["row"])
              expect(yield* must(() => readdir(remote))).toEqual(["by-hand", "data"])
              const volumes = docker("volume", "ls", "-q", "--filter", `name=${name}_kept`)
              expect(lines(yield* volumes)).toHaveLength(1)

              const withCache = (more: string) =>
                compose([...usual, `volumes: ["kept:/kept", "./data:/data", "/cache"${more}]`], [
                  "volumes:",
                  "  kept: {}"
                ])
              yield* withCache("")
              yield* deploy({ projectPath: directory, ...where })
              // Compose gives the container after it the volume of the one before by name, and Docker keeps that.
              const [cache] = (yield* planStackRemoval({ ...where, volumes: true })).volumes.filter((one) =>
                one !== `${name}_kept`
              )
              yield* withCache(", \"/more\"")
              yield* deploy({ projectPath: directory, ...where })
              const last = yield* planStackRemoval({ ...where, volumes: true })
              const [more] = last.volumes.filter((one) => one !== `${name}_kept`)
              expect(last.volumes).toEqual([`${name}_kept`, expect.stringMatching(/^[0-9a-f]{64}$/)])
              expect(last.stays).toContainEqual({
                kind: "volume",
                name: cache,
                because: "the compose file does not name it"
              })
              const gone = yield* executeStackAction("remove", { ...where, volumes: true })
              expect(gone.message).toContain(`Volumes: ${last.volumes.join(", ")}. Its other volumes and data/ stay.`)
              expect(gone.stays).toEqual(last.stays)
              expect(lines(yield* volumes)).toEqual([])
              const left = lines(yield* docker("volume", "ls", "-q"))
              expect([left.includes(cache ?? ""), left.includes(more ?? "")]).toEqual([true, false])
              yield* docker("volume", "rm", cache ?? "")
              expect(yield* must(() => readdir(join(remote, "data")))).toEqual(["row"])
            }).pipe(Effect.provide(berth(server)))
          })
      )
    }
  }
)
