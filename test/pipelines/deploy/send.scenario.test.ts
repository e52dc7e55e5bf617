import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { scene } from "../../fixtures/docker/deployScene.ts"
import { patience } from "../../fixtures/patience.ts"
import { shells } from "../../layers/RemoteHere.ts"

const compose = (images: ReadonlyArray<string>) =>
  `services:\n${images.map((image, index) => `  s${index}: { image: "${image}" }\n`).join("")}`

describe.each(shells.slice(-1))("images from registries, in $name", (shell) => {
  it.scopedLive(
    "are pulled where they are missing, and a refusal names the image and leaves names as they were",
    () =>
      Effect.gen(function*() {
        const { archive, bring, deployed, deployedWith, directory, meaning, planned, program, standIns } = yield* scene(
          {
            shell: shell.path
          }
        )
        const runs = (...images: ReadonlyArray<string>) =>
          writeFileSync(join(directory, "compose.yml"), compose(images))
        yield* standIns.setStorageDriver("overlayfs")
        yield* bring(archive("one"))
        yield* deployed
        spawnSync(join(standIns.bin, "docker"), ["load"], {
          input: archive("other", { name: "newer:1" }),
          env: { ...process.env, ...standIns.env }
        })
        // A registry that has proxy, in a new version once it was pulled, and nothing else.
        yield* program(
          "docker",
          `is=shop:latest
[ ! -e "$HOME/pulled" ] || is=newer:1
case "$1 $2" in 'pull proxy:1') : >"$HOME/pulled"; exec "$STAND_INS/docker" tag "$is" proxy:1 ;; esac
exec "$STAND_INS/docker" "$@"`
        )
        runs("shop:latest", "proxy:1")
        expect((yield* planned).warnings).toContain("the server pulls proxy:1 from its registry")
        expect(yield* deployed).toMatchObject({ success: true })
        const first = yield* meaning("proxy:1")

        runs("shop:latest", "proxy:1", "gone:2")
        expect((yield* Effect.flip(deployedWith({ pull: "always" }))).message).toBe(
          "Deploy failed at pull: \"Main\" cannot pull gone:2: Error response from daemon: pull access denied for gone:2, " +
            "repository does not exist or may require 'docker login': denied: requested access to the resource is denied. " +
            "An image of the project's own comes in an archive (*.tar): build that first. What ran before was not touched"
        )
        expect(yield* meaning("proxy:1")).toBe(first)
        expect((yield* Effect.flip(deployedWith({ pull: "never" }))).message).toMatch(
          /^Deploy failed at preflight: "Main" has no image gone:2, and shop\.tar does not hold it/
        )

        runs("shop:latest", "proxy:1")
        yield* deployed
        expect(yield* meaning("proxy:1")).toBe(first)
        writeFileSync(join(directory, "container.json"), "{\"pull\": \"always\"}")
        expect(yield* deployed).toMatchObject({ success: true })
        expect(yield* meaning("proxy:1")).not.toBe(first)
      }),
    60_000 * patience
  )
})
