import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { renderDockerIgnore } from "../../../src/pipelines/init.ts"
import { docker, realDocker, uniqueName } from "../../fixtures/docker/docker.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

const run = promisify(execFile)

const builders = ["classic", "BuildKit"] as const
const isThere = (builder: (typeof builders)[number]) =>
  realDocker.available &&
  (builder === "classic" || spawnSync("docker", ["buildx", "version"], { stdio: "ignore" }).status === 0)

/** A title that says what is missing where the builder is not there. */
const titleFor = (builder: (typeof builders)[number], title: string) =>
  realDocker.available && !isThere(builder) ? `${title} (needs docker buildx)` : realDocker.title(title)

describe.each(builders)("a build with the %s builder", (builder) => {
  it.scopedLive.skipIf(!isThere(builder))(
    titleFor(builder, "packs nothing that is ignored, and what is asked for"),
    () =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const image = yield* uniqueName("berth-ignore")
        const imageFile = "FROM scratch\nCOPY data/seed.json /seed.json\nCOPY . /app\nCMD [\"/none\"]\n"
        yield* plant(directory, {
          "Dockerfile": imageFile,
          ".dockerignore": renderDockerIgnore(imageFile),
          ".env": "SECRET=1\n",
          "old.tar": "big",
          "data/seed.json": "{}",
          "data/visits.txt": "42",
          "build-image-tar.ps1": "exit 0",
          "build-image-tar.sh": "exit 0",
          "src/fixture.tar": "part of the program",
          "src/data/a.txt": "too"
        })
        yield* Effect.acquireRelease(
          Effect.promise(() =>
            run("docker", ["build", "-q", "-t", image, directory], {
              env: { ...process.env, DOCKER_BUILDKIT: builder === "classic" ? "0" : "1" }
            })
          ),
          () => Effect.ignore(docker("image", "rm", "-f", image))
        )
        const container = yield* Effect.acquireRelease(
          docker("create", image),
          (id) => Effect.ignore(docker("rm", "-f", id))
        )
        yield* docker("cp", `${container}:/`, join(directory, "out"))
        const { stdout } = yield* Effect.promise(() =>
          run("find", [".", "-type", "f", "-path", "./app/*", "-o", "-name", "seed.json"], {
            cwd: join(directory, "out")
          })
        )
        expect(stdout.trim().split("\n").sort()).toEqual([
          "./app/.dockerignore",
          "./app/Dockerfile",
          "./app/data/seed.json",
          "./app/src/data/a.txt",
          "./app/src/fixture.tar",
          "./seed.json"
        ])
      })
  )
})
