import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { chmodSync, existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { renderShellScript } from "../../../src/pipelines/init.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

const script = renderShellScript({ name: "shop", imageFile: "Containerfile", containerPort: 3000, hostPort: 2007 })

// Logs its directory and arguments, saves images on request, and fails on request.
const docker = `#!/bin/sh
printf '%s|' "$PWD" "$@" >>"$ASKED"
echo >>"$ASKED"
[ "$1" != save ] || echo image >"$3"
[ "$1" != "$FAILS" ] || exit 7
`

/** A project in a directory that a careless script would take for an option, and a `docker` for it. */
const project = (name = "-my app") =>
  Effect.gen(function*() {
    const root = yield* temporaryDirectory
    const directory = join(root, name)
    yield* plant(root, {
      [`${name}/build-image-tar.sh`]: script,
      [`${name}/shop.tar`]: "of the last build",
      "bin/docker": docker
    })
    chmodSync(join(root, "bin", "docker"), 0o755)
    const run = (cwd: string, file: string, env: Readonly<Record<string, string>> = {}) =>
      spawnSync("sh", [file], {
        cwd,
        encoding: "utf8",
        env: { PATH: `${join(root, "bin")}:${process.env["PATH"]}`, ASKED: join(root, "asked"), FAILS: "", ...env }
      })
    const asked = Effect.promise(async () => (await readFile(join(root, "asked"), "utf8")).trim().split("\n"))
    return { asked, directory, root, run }
  })

describe.skipIf(process.platform === "win32")("build-image-tar.sh", () => {
  it.scopedLive.each(["-my app", "plain"])(
    "builds and saves in its own directory, %j, wherever it is called",
    (name) =>
      Effect.gen(function*() {
        const { asked, directory, root, run } = yield* project(name)
        expect(run(root, join(directory, "build-image-tar.sh"), { CDPATH: root })).toMatchObject({
          status: 0,
          stdout: "Saved shop:latest as shop.tar\n",
          stderr: ""
        })
        expect(run(directory, "build-image-tar.sh").status).toBe(0)
        const twice = [
          `${directory}|build|--tag|shop:latest|--file|Containerfile|.|`,
          `${directory}|save|--output|shop.tar|shop:latest|`
        ]
        expect(yield* asked).toEqual([...twice, ...twice])
        expect(yield* Effect.promise(() => readFile(join(directory, "shop.tar"), "utf8"))).toBe("image\n")
      })
  )

  it.scopedLive("builds for the platform that it is told", () =>
    Effect.gen(function*() {
      const { asked, directory, run } = yield* project()
      expect(run(directory, "./build-image-tar.sh", { BUILD_PLATFORM: "linux/arm64" }).status).toBe(0)
      expect((yield* asked)[0]).toContain("|build|--platform|linux/arm64|--tag|")
    }))

  it.scopedLive.each(["build", "save"])(
    "ends as docker %s does, and leaves no archive",
    (fails) =>
      Effect.gen(function*() {
        const { directory, run } = yield* project()
        expect(run(directory, "./build-image-tar.sh", { FAILS: fails })).toMatchObject({ status: 7, stdout: "" })
        expect(existsSync(join(directory, "shop.tar"))).toBe(false)
      })
  )

  const hasShellcheck = spawnSync("shellcheck", ["--version"]).status === 0
  it.skipIf(!hasShellcheck)(`has nothing that shellcheck finds${hasShellcheck ? "" : " (needs shellcheck)"}`, () => {
    const checked = spawnSync("shellcheck", ["-"], { input: script, encoding: "utf8" })
    expect(checked.stdout).toBe("")
    expect(checked.status).toBe(0)
  })
})
