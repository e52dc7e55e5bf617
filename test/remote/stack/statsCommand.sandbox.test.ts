import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { chmodSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { temporaryDirectory } from "../../layers/temporary.ts"

const script = fileURLToPath(new URL("../../../src/remote/stack/stats.sh", import.meta.url))

/** Asks a Docker whose first looks fail, as many as are said. */
const usage = (failing: number) =>
  Effect.map(temporaryDirectory, (directory) => {
    const docker = join(directory, "docker")
    writeFileSync(
      docker,
      `#!/bin/sh
case $1 in
  ps) echo abc ;;
  stats)
    echo look >>"$0.looks"
    [ "$(wc -l <"$0.looks")" -gt ${failing} ] || { echo EOF >&2; exit 1; }
    echo "usage|abc|1%|1MiB / 2MiB|0B / 0B" ;;
  inspect) echo "container|abc|0|now|web|/web" ;;
esac
`
    )
    chmodSync(docker, 0o755)
    const { status, stderr, stdout } = spawnSync("sh", [script], {
      encoding: "utf8",
      env: { ...process.env, PATH: `${directory}:${process.env["PATH"] ?? ""}` }
    })
    return { status, stderr, stdout }
  })

it.scoped("looks again when a container was removed during the look, and gives up after the sixth", () =>
  Effect.gen(function*() {
    const told = { status: 0, stderr: "", stdout: expect.stringMatching(/^usage\|abc.*\ncontainer\|abc/) }
    expect(yield* usage(0)).toEqual(told)
    expect(yield* usage(5)).toEqual(told)
    expect(yield* usage(6)).toEqual({ status: 1, stderr: "EOF\n", stdout: "" })
  }))
