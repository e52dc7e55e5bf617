import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { takeSample } from "../../src/pipelines/sampling.ts"
import type { StatsPoint } from "../../src/schema/usage.ts"
import { settingsTest } from "../../src/testing/SettingsTest.ts"
import { buildImage, docker, uniqueName } from "../fixtures/docker/docker.ts"
import { realServer } from "../fixtures/docker/realProject.ts"
import { sshdWorld } from "../fixtures/network/servers.ts"
import { patience } from "../fixtures/patience.ts"
import { liveSsh } from "../services/ssh/live.ts"

const ways = [
  { name: "as a member of the group docker", options: { groups: ["docker"] } },
  { name: "through sudo with a password", options: { sudo: "password" } }
] as const

describe.skipIf(!realServer.available).each(ways)(
  realServer.title("samples of a real Docker, $name"),
  { timeout: 120_000 * patience },
  ({ options }) => {
    it.scopedLive("have the server's numbers and those of a container that works", () =>
      Effect.gen(function*() {
        const { access } = yield* sshdWorld.server(options)
        const image = yield* uniqueName("berth-sample")
        yield* buildImage(image, "hello")
        const work = "while :; do echo work >/tmp-work; done"
        yield* Effect.acquireRelease(
          docker(
            "run",
            "-d",
            "--label",
            "com.docker.compose.service=web",
            "--name",
            image,
            image,
            "/bin/busybox",
            "sh",
            "-c",
            work
          ),
          () => docker("rm", "-f", image)
        )
        const works = ({ containers }: StatsPoint) =>
          containers.some(({ cpuPercent, name }) => name === image && cpuPercent > 0)
        const point = yield* takeSample("server").pipe(
          Effect.repeat({ until: works, times: 20 }),
          Effect.provide([liveSsh(), settingsTest({}, [access])])
        )
        expect(point).not.toHaveProperty("error")
        expect(point.load?.processors).toBeGreaterThan(0)
        expect(point.memory?.totalBytes).toBeGreaterThan(point.memory?.freeBytes ?? Infinity)
        expect(point.disks.map(({ holds }) => holds).flat().sort()).toEqual(["containers", "docker"])
        expect(point.containers.find(({ name }) => name === image)).toMatchObject({
          service: "web",
          cpuPercent: expect.any(Number),
          memoryBytes: expect.any(Number)
        })
      }))
  }
)
