import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { dockerIgnore } from "../../../src/pipelines/init/dockerIgnore.ts"
import { docker, realDocker, uniqueName } from "../../fixtures/docker.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

const run = promisify(execFile)
const keptIn = (imageFile: string) => dockerIgnore(imageFile).split("\n").filter((line) => line.startsWith("!"))

describe("dockerIgnore", () => {
  it.each<[string, ReadonlyArray<string>]>([
    ["", []],
    ["FROM a\nCOPY . /app\nCOPY src /src\n", []],
    ["FROM a\nADD rootfs.tar /\n", ["!rootfs.tar"]],
    ["FROM a\nADD https://example.com/a.tar files/b.tar /\n", []],
    ["FROM a\ncopy --chown=1:1 --link ./data/seed.json /.env package.json ./\n", ["!data/seed.json", "!.env"]],
    ["FROM a\nCOPY [\"data/\", \"platform.json\", \"/app dir/\"]\n", ["!data", "!platform.json"]],
    ["FROM a\nCOPY --chown=1 --from=build .env /\nCOPY \\\n  .env \\\n  /app/\nCOPY .env /b\n", ["!.env"]],
    ["FROM a\n# COPY .env /\nRUN cp .env /\nCOPY src .env\n", []]
  ])("of %j lets in %j", (imageFile, kept) => {
    expect(keptIn(imageFile)).toEqual(kept)
  })
})

const builders = ["classic", "BuildKit"] as const
const isThere = (builder: (typeof builders)[number]) =>
  realDocker.available &&
  (builder === "classic" || spawnSync("docker", ["buildx", "version"], { stdio: "ignore" }).status === 0)

describe.each(builders)("a build with the %s builder", (builder) => {
  it.scopedLive.skipIf(!isThere(builder))(
    "packs nothing that is ignored, and what is asked for",
    () =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const image = yield* uniqueName("berth-ignore")
        const imageFile = "FROM scratch\nCOPY data/seed.json /seed.json\nCOPY . /app\nCMD [\"/none\"]\n"
        yield* plant(directory, {
          "Dockerfile": imageFile,
          ".dockerignore": dockerIgnore(imageFile),
          ".env": "SECRET=1\n",
          "old.tar": "big",
          "data/seed.json": "{}",
          "data/visits.txt": "42",
          "build-image-tar.ps1": "exit 0",
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
