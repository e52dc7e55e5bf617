import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { scene } from "../../fixtures/docker/deployScene.ts"
import { patience } from "../../fixtures/patience.ts"
import { shells } from "../../layers/RemoteHere.ts"
import { eventually } from "../../sandbox/eventually.ts"

const withFiles = (more: string) => `services:\n  web:\n    image: shop:latest\n${more}`

describe.each(shells)("files for compose, in $name", (shell) => {
  it.scopedLive(
    "are removed with the project's own, put back when the start fails, and named",
    () =>
      Effect.gen(function*() {
        const { archive, bring, deployed, directory, program, remote } = yield* scene({ shell: shell.path })
        const at = (name: string) => join(remote, name)
        yield* bring(archive("one"))
        writeFileSync(join(directory, "compose.yml"), withFiles("    env_file: [web.env]\n"))
        writeFileSync(join(directory, "web.env"), "W=1\n")
        yield* deployed
        expect(readFileSync(at(".berth/deployed"), "utf8").split("\n").toSorted()).toEqual(["", ".env", "web.env"])
        writeFileSync(at("own.env"), "OWN=1\n")

        for (const name of [".env", "web.env"]) rmSync(join(directory, name))
        writeFileSync(join(directory, "compose.yml"), withFiles("    hostname: ${NOT_SET}\n"))
        const failed = join(remote, "..", "failed")
        yield* program(
          "docker",
          `case $* in *" up -d") [ -e '${failed}' ] || { : >'${failed}'; exit 1; } ;; esac\nexec "$STAND_INS/docker" "$@"`
        )
        expect((yield* Effect.flip(deployed)).message).toMatch(/The previous version is running again$/)
        expect(readFileSync(at(".env"), "utf8") + readFileSync(at("web.env"), "utf8")).toBe("A=1\nW=1\n")

        const { message } = yield* deployed
        expect(message).toMatch(
          / Removed from the server, no longer in the project: (\.env, web\.env|web\.env, \.env)\. /
        )
        expect(message).toMatch(/ Compose warns: The "NOT_SET" variable is not set\. Defaulting to a blank string\.$/)
        expect([".env", "web.env", "own.env", "conf/a b'c"].map((name) => existsSync(at(name))))
          .toEqual([false, false, true, true])
        expect((yield* deployed).message).not.toContain("Removed")
      }),
    60_000 * patience
  )

  it.scopedLive(
    "leave no directory when a first deploy fails, unless something else is in it",
    () =>
      Effect.gen(function*() {
        const { archive, bring, deployed, program, remote } = yield* scene({ shell: shell.path })
        yield* bring(archive("one"))
        yield* program("docker", `case $* in *" up -d") exit 1 ;; esac\nexec "$STAND_INS/docker" "$@"`)
        yield* Effect.flip(deployed)
        yield* eventually(Effect.sync(() => !existsSync(remote)))
        yield* program(
          "docker",
          `case $* in *" up -d") mkdir -p data/db; : >data/db/row; exit 1 ;; esac\nexec "$STAND_INS/docker" "$@"`
        )
        yield* Effect.flip(deployed)
        expect(existsSync(join(remote, "data/db/row"))).toBe(true)
      }),
    60_000 * patience
  )
})
