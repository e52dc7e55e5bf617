import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { planContainers } from "../../../src/pipelines/deploy/plan.ts"
import { docker } from "../../fixtures/docker/docker.ts"
import { berth, onServer, project, realServer, withSudo } from "../../fixtures/docker/realProject.ts"
import { runnableImage } from "../../fixtures/docker/runnableImage.ts"
import { patience } from "../../fixtures/patience.ts"

const title = realServer.title("a plan of a deploy to a real server")

describe.skipIf(!realServer.available)(title, { timeout: 180_000 * patience }, () => {
  for (const useSudo of withSudo) {
    it.scopedLive(
      `says what the deploy does, and is out of date when anything moves, ${
        useSudo ? "through sudo" : "as a docker user"
      }`,
      () =>
        Effect.gen(function*() {
          const { server, user } = yield* onServer(useSudo)
          const { archive, compose, directory, image, name } = yield* project
          const remote = join(user.home, "containers", name)
          const request = { projectPath: directory, serverId: server.id, remotePath: `~/containers/${name}` }
          const build = (content: string) => writeFileSync(archive, runnableImage(name, content, { own: name }).archive)
          const local = (file: string, text: string) => writeFileSync(join(directory, file), text)
          const running = docker("ps", "-q", "--no-trunc", "--filter", `name=${name}`)
          const web = [`image: ${image}`, "stop_signal: SIGKILL", "environment: { A: \"$A\" }"]
          build("one")
          yield* compose(web, ["  db:", `    image: ${image}`, "    stop_signal: SIGKILL"])
          local(".env", "A=1\n")
          local("more.txt", "1")
          local("container.json", JSON.stringify({ files: ["more.txt"] }))
          yield* Effect.gen(function*() {
            const first = yield* planContainers(request)
            expect(readdirSync(user.home)).not.toContain("containers")
            expect(first).toMatchObject({
              obstacles: [],
              images: [{ name: image, change: "new" }],
              services: [{ name: "web", change: "create" }, { name: "db", change: "create" }]
            })
            expect(first.bytesToSend).toBe(first.bytesTotal)
            expect(yield* deploy({ ...request, planHash: first.planHash })).toMatchObject({ healthy: true })
            const before = yield* running

            const { planHash, ...same } = yield* planContainers(request)
            expect([...same.files, ...same.images].map(({ change }) => change)).toEqual([
              "same",
              "same",
              "same",
              "same"
            ])
            expect(same).toMatchObject({
              bytesToSend: 0,
              services: [{ name: "web", change: "keep" }, { name: "db", change: "keep" }]
            })
            const held = deploy({ ...request, planHash })
            const current = readFileSync(join(remote, ".berth/current"), "utf8")
            const moves: ReadonlyArray<readonly [words: string, move: Effect.Effect<void>, undo: Effect.Effect<void>]> =
              [
                [
                  "a value in the env files has changed; a file of container.json has changed; the image archive has changed.",
                  Effect.sync(() => {
                    local(".env", "A=2\n")
                    local("more.txt", "2")
                    build("two")
                  }),
                  Effect.sync(() => {
                    local(".env", "A=1\n")
                    local("more.txt", "1")
                    build("one")
                  })
                ],
                [
                  "what runs there has changed; the release there is now 99.",
                  Effect.zipRight(
                    docker("stop", "-t", "0", before.split("\n")[0] ?? ""),
                    Effect.sync(() => writeFileSync(join(remote, ".berth/current"), "99\n"))
                  ),
                  Effect.zipRight(
                    docker("start", before.split("\n")[0] ?? ""),
                    Effect.sync(() => writeFileSync(join(remote, ".berth/current"), current))
                  )
                ]
              ]
            for (const [words, move, undo] of moves) {
              yield* move
              const refused = yield* Effect.flip(held)
              expect(refused).toMatchObject({ _tag: "DeployPlanMoved", status: 409 })
              expect(refused.message).toContain(`no longer holds: ${words} Nothing was changed`)
              yield* undo
              expect(yield* running).toBe(before)
            }
            expect(yield* held).toMatchObject({ healthy: true, uploadedFiles: [] })

            local(".env", "A=2\n")
            const next = yield* planContainers(request)
            expect(next.services).toEqual([{ name: "web", change: "recreate" }, { name: "db", change: "keep" }])
            expect(yield* deploy({ ...request, planHash: next.planHash })).toMatchObject({ uploadedFiles: [".env"] })
            const after = (yield* running).split("\n")
            expect(before.split("\n").filter((id) => after.includes(id))).toHaveLength(1)
          }).pipe(Effect.provide(berth(server)))
        })
    )
  }
})
