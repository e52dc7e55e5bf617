import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { scene } from "../../../fixtures/docker/deployScene.ts"
import { patience } from "../../../fixtures/patience.ts"
import { shells } from "../../../layers/RemoteHere.ts"

/** A server that keeps two releases, to which images come by a new name each time. */
const keeping = (shell?: string) =>
  Effect.gen(function*() {
    const stage = yield* scene({
      settings: { "deploy.keepReleases": 2 },
      ...shell === undefined ? {} : { shell }
    })
    const next = (version: string) =>
      Effect.gen(function*() {
        writeFileSync(
          join(stage.directory, "compose.yml"),
          `services:\n  web:\n    image: shop:${version}\n    env_file: [.env]\n`
        )
        yield* stage.bring(stage.archive(version, { name: `shop:${version}` }))
      })
    const names = Effect.map(
      stage.docker("image", "ls", "--format", "{{.Repository}}:{{.Tag}}"),
      (text) => text.split("\n").map((name) => name.replace(/(berth\/release):.*/, "$1")).toSorted()
    )
    return { ...stage, names, next }
  })

describe.each(shells)("releases beyond those that are kept, in $name", (shell) => {
  it.scopedLive("go, and with them images that nobody else uses or knows by a name", () =>
    Effect.gen(function*() {
      const { deployed, docker, names, next, releases, remote } = yield* keeping(shell.path)
      yield* next("1")
      yield* deployed
      yield* docker("tag", "shop:1", "mine:latest")
      for (const version of ["2", "3"]) {
        yield* next(version)
        expect(yield* deployed).toMatchObject({ healthy: true })
      }
      const kept = ["berth/release", "berth/release"]
      // The first one has a name of somebody else, and keeps all but Berth's.
      expect(yield* names).toEqual([...kept, "mine:latest", "shop:1", "shop:2", "shop:3"])
      yield* next("4")
      yield* deployed
      expect(yield* names).toEqual([...kept, "mine:latest", "shop:1", "shop:3", "shop:4"])
      expect((yield* releases).map(({ available, id }) => [id, available])).toEqual([["4", true], ["3", true]])
      expect(readdirSync(join(remote, ".berth/releases")).toSorted()).toEqual(["3", "4", "last"])
      expect(existsSync(join(remote, ".berth/leaving"))).toBe(false)
    }), 60_000 * patience)
})

describe("an image that only a forgotten release needed", () => {
  it.scopedLive(
    "stays for as long as a container uses it, and goes with the next deploy",
    () =>
      Effect.gen(function*() {
        const { deployed, docker, home, names, next, remote } = yield* keeping()
        yield* next("1")
        yield* deployed
        writeFileSync(join(home, "compose.yml"), "name: other\nservices:\n  job:\n    image: shop:1\n")
        yield* docker("compose", "-f", join(home, "compose.yml"), "up", "-d")
        for (const version of ["2", "3"]) {
          yield* next(version)
          yield* deployed
        }
        expect(yield* names).toContain("shop:1")
        expect(existsSync(join(remote, ".berth/leaving"))).toBe(true)
        yield* docker("rm", "-f", "other-job-1")
        yield* deployed
        expect(yield* names).toEqual(["berth/release", "shop:3"])
        expect(existsSync(join(remote, ".berth/leaving"))).toBe(false)
      }),
    60_000 * patience
  )

  it.scopedLive("is also that of a version that did not start, once another one runs", () =>
    Effect.gen(function*() {
      const { deployed, docker, home, names, next, program } = yield* keeping()
      const failed = join(home, "failed")
      yield* program(
        "docker",
        `case $* in *" up -d") [ ! -e '${failed}' ] || exit 1 ;; esac\nexec "$STAND_INS/docker" "$@"`
      )
      yield* next("1")
      yield* deployed
      writeFileSync(failed, "")
      yield* next("2")
      yield* Effect.flip(deployed)
      const images = () => docker("image", "ls", "-q")
      expect((yield* images()).split("\n")).toHaveLength(3)
      yield* program("docker", `exec "$STAND_INS/docker" "$@"`)
      yield* next("3")
      yield* deployed
      expect(yield* names).toEqual(["berth/release", "berth/release", "shop:1", "shop:3"])
    }), 60_000 * patience)
})
