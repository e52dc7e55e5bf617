import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Schedule } from "effect"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { docker } from "../../fixtures/docker/docker.ts"
import { followingProxy, requestsTo } from "../../fixtures/docker/followingProxy.ts"
import { berth, onServer, project, realServer } from "../../fixtures/docker/realProject.ts"
import { run } from "../../fixtures/network/openssh.ts"
import { patience } from "../../fixtures/patience.ts"
import { rootsDirectory } from "../../fixtures/programs/rootsPrograms.ts"

const host = "app.example.com"

const proxyText = (port: number) =>
  `http:
  routers:
    app:
      rule: "Host(\`${host}\`)"
      service: app
  services:
    app:
      loadBalancer:
        servers:
          - url: "http://127.0.0.1:${port}"
`

/** A directory of its own file system of 32 KiB, and what fills it and makes room again. */
const smallDisk = Effect.gen(function*() {
  const directory = yield* rootsDirectory
  yield* Effect.acquireRelease(
    Effect.orDie(run("mount", ["-t", "tmpfs", "-o", "size=32k,mode=755", "tmpfs", directory])),
    () => Effect.ignore(run("umount", ["--lazy", directory]))
  )
  const filler = join(directory, "filler")
  return {
    file: join(directory, "proxy.yml"),
    fill: Effect.sync(() => {
      for (let size = 32; size > 0; size--) {
        try {
          return writeFileSync(filler, Buffer.alloc(size * 1024))
        } catch {
          rmSync(filler, { force: true })
        }
      }
    }),
    makeRoom: Effect.sync(() => rmSync(filler, { force: true }))
  }
})

const title = realServer.title("a redeploy over a bridge whose proxy file is on a full disk")

describe.skipIf(!realServer.available)(title, { timeout: 300_000 * patience }, () => {
  for (const moment of ["from the beginning", "once both serve"] as const) {
    it.scopedLive(`fails no request, and the next one leaves nothing of the bridge (${moment})`, () =>
      Effect.gen(function*() {
        const { server, user } = yield* onServer(true)
        const { answer, build, directory, image, name, port } = yield* project
        const { file, fill, makeRoom } = yield* smallDisk
        const text = proxyText(port)
        writeFileSync(file, text)
        writeFileSync(join(directory, "container.json"), JSON.stringify({ bridged: ["web"] }))
        const request = { projectPath: directory, serverId: server.id, remotePath: `~/containers/${name}` }
        yield* Effect.gen(function*() {
          yield* build("one")
          yield* deploy(request)
          yield* build("two")
          const proxy = yield* followingProxy(file, 300)
          const load = yield* requestsTo(proxy.port, host, 50)
          if (moment === "from the beginning") yield* fill
          else {
            const isBoth = Effect.sync(() => readFileSync(file, "utf8") !== text)
            yield* Effect.forkScoped(
              Effect.zipRight(
                Effect.repeat(isBoth, { until: (is) => is, schedule: Schedule.spaced("20 millis") }),
                fill
              )
            )
          }
          const full = yield* Effect.either(deploy(request))
          // A copy of the file has no room from the beginning; later it is written in place.
          expect(full).toMatchObject(
            moment === "from the beginning"
              ? { left: { step: "bridge", state: "What ran before was not touched" } }
              : { right: { success: true, healthy: true } }
          )
          expect(readFileSync(file, "utf8")).toBe(text)
          yield* makeRoom
          yield* build("three")
          expect(yield* deploy(request)).toMatchObject({ success: true, healthy: true })
          expect((yield* load.report).failed).toEqual([])
        }).pipe(
          Effect.provide(berth(server, { "proxy.configFile": file, "proxy.settle": Duration.seconds(3) }))
        )
        expect(yield* answer).toBe("three")
        expect(readFileSync(file, "utf8")).toBe(text)
        expect(yield* docker("ps", "-aq", "--filter", "label=berth.bridge", "--filter", `ancestor=${image}`)).toBe("")
        expect(existsSync(join(user.home, "containers", name, ".berth/bridge"))).toBe(false)
      }))
  }
})
