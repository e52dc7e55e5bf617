import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { renderShellScript } from "../../../src/pipelines/init.ts"
import { docker, realDocker, uniqueName } from "../../fixtures/docker/docker.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

const run = promisify(execFile)

describe.skipIf(!realDocker.available)(realDocker.title("build-image-tar.sh with Docker"), () => {
  it.scopedLive("writes an archive that docker load takes", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const name = yield* uniqueName("berth-shell-script")
      yield* plant(directory, {
        "build-image-tar.sh": renderShellScript({
          name,
          imageFile: "Containerfile",
          containerPort: 3000,
          hostPort: 2007
        }),
        "Containerfile": `FROM scratch\nCOPY hello /hello\nLABEL only=${name}\n`,
        "hello": name
      })
      yield* Effect.addFinalizer(() => Effect.ignore(docker("image", "rm", "-f", `${name}:latest`)))
      yield* Effect.promise(() =>
        run("sh", [join(directory, "build-image-tar.sh")], { env: { ...process.env, DOCKER_BUILDKIT: "0" } })
      )
      expect(existsSync(join(directory, `${name}.tar`))).toBe(true)
      yield* docker("image", "rm", "-f", `${name}:latest`)
      expect(yield* docker("load", "-i", join(directory, `${name}.tar`))).toContain(`${name}:latest`)
    }))
})
