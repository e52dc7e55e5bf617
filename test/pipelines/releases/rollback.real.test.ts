import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { listReleases } from "../../../src/pipelines/releases/releases.ts"
import { rollback } from "../../../src/pipelines/releases/rollback.ts"
import { docker, lines, testLabel } from "../../fixtures/docker/docker.ts"
import { berth, onServer, project, realServer, withSudo } from "../../fixtures/docker/realProject.ts"
import { markLabel, runnableImage } from "../../fixtures/docker/runnableImage.ts"
import { patience } from "../../fixtures/patience.ts"

const must = <A>(make: () => Promise<A>) => Effect.promise(make)

describe.skipIf(!realServer.available)(
  realServer.title("releases on a real server"),
  { timeout: 600_000 * patience },
  () => {
    for (const useSudo of withSudo) {
      // As many as in a busy week, as a docker user.
      const deploys = useSudo ? 4 : 7
      it.scopedLive(`of ${deploys} deploys keep three images, and are gone back to, ${useSudo ? "through sudo" : "as a docker user"}`, () =>
        Effect.gen(function*() {
          const { server, user } = yield* onServer(useSudo)
          const { archive, compose, directory, image, name } = yield* project
          const remotePath = `~/containers/${name}`
          const request = { projectPath: directory, serverId: server.id, remotePath }
          yield* compose([`image: ${image}`, "network_mode: none", "stop_signal: SIGKILL", "env_file: [.env]"])
          const version = (number: number) =>
            Effect.gen(function*() {
              const made = runnableImage(name, randomBytes(100))
              yield* must(() => writeFile(archive, made.archive))
              yield* must(() => writeFile(join(directory, ".env"), `VERSION=${number}\n`))
              expect(yield* deploy(request)).toMatchObject({ success: true, healthy: true })
              return made.mark
            })
          const runs = Effect.flatMap(
            docker("ps", "-q", "--filter", `label=com.docker.compose.project=${name}`),
            (id) => docker("inspect", "--format", `{{index .Config.Labels "${markLabel}"}} {{json .Config.Env}}`, id)
          )
          const images = Effect.map(
            docker("image", "ls", "-q", "--no-trunc", "--filter", `label=${testLabel}=${name}`),
            (text) => new Set(lines(text)).size
          )
          const env = join(user.home, "containers", name, ".env")

          yield* Effect.gen(function*() {
            const marks = yield* Effect.forEach(Array.from({ length: deploys }, (_, index) => index + 1), version)
            expect(yield* images).toBe(3)
            const kept = yield* listReleases(server.id, remotePath)
            expect(kept.map(({ available, current, id }) => [id, current, available])).toEqual([
              [String(deploys), true, true],
              [String(deploys - 1), false, true],
              [String(deploys - 2), false, true]
            ])

            // No project is needed, nor the archive.
            yield* must(() => rm(directory, { recursive: true }))
            const back = yield* rollback({ serverId: server.id, remotePath, release: String(deploys - 2) })
            expect(back).toMatchObject({ success: true, healthy: true, uploadedFiles: [] })
            expect(yield* runs).toContain(marks[deploys - 3])
            expect(yield* runs).toContain(`VERSION=${deploys - 2}`)
            expect((yield* must(() => stat(env))).mode & 0o777).toBe(0o600)

            // Remove the image of the release before by hand.
            const gone = (yield* listReleases(server.id, remotePath)).find(({ id }) => id === String(deploys))
            yield* docker("image", "rm", "-f", gone?.images[0]?.id ?? "")
            const before = yield* runs
            expect(yield* Effect.flip(rollback({ serverId: server.id, remotePath }))).toMatchObject({
              _tag: "ReleaseUnavailable",
              message: expect.stringMatching(
                /Nothing was changed: release \d+ is still the current one\. .*go back to release/
              )
            })
            expect(yield* runs).toBe(before)
            expect(yield* rollback({ serverId: server.id, remotePath, release: String(deploys - 1) })).toMatchObject({
              healthy: true
            })
            expect(yield* runs).toContain(marks[deploys - 2])
          }).pipe(Effect.provide(berth(server, { "deploy.keepReleases": 3 })))
        }))
    }
  }
)
