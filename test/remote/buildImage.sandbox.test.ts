import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { chmodSync, existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

const script = resolve("src/remote/build/subprocesses/buildImage.sh")

/** Runs the script with a `timeout` that ends like this, and a Docker that notes when its whole context has come. */
const build = (ends: string) =>
  Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    const built = join(directory, "built")
    yield* plant(directory, {
      "timeout": `#!/bin/sh\n${ends}\n`,
      "docker": `#!/bin/sh\ncase $1 in build) cat >/dev/null; echo >${built} ;; *) echo 99 ;; esac\n`
    })
    for (const name of ["timeout", "docker"]) chmodSync(join(directory, name), 0o755)
    const status = yield* Effect.async<number | null>((resume) => {
      const child = spawn("sh", [script, "1", "web"], {
        env: { ...process.env, PATH: `${directory}:${process.env["PATH"] ?? ""}` },
        stdio: ["pipe", "ignore", "ignore"]
      })
      child.once("exit", (code) => {
        child.stdin.destroy()
        resume(Effect.succeed(code))
      })
      // It stays open: the end of the input ends the build.
      child.stdin.on("error", () => {})
      child.stdin.write(Buffer.concat([Buffer.from("=docker\n=build\n\n"), Buffer.alloc(65_536), Buffer.from("end\n")]))
    })
    return { status, isBuilt: existsSync(built) }
  })

describe.skipIf(process.platform === "win32")("the context of a build on a server", () => {
  it.scopedLive("is built when all of it has come", () =>
    Effect.gen(function*() {
      expect(yield* build("shift; exec \"$@\"")).toEqual({ status: 0, isBuilt: true })
    }))

  // The rest may still come, and would be taken for signs of life.
  it.scopedLive.each([124, 143])("is not built after a pause that ends with %i", (code) =>
    Effect.gen(function*() {
      expect((yield* build(`exit ${code}`)).status).toBe(143)
    }))
})
