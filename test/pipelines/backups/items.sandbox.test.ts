import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { chmodSync } from "node:fs"
import { join } from "node:path"
import { toPlannedItems } from "../../../src/pipelines/backups/items.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

const [redis] = toPlannedItems({ items: { cache: { kind: "redis", service: "redis" } } })

describe.skipIf(process.platform === "win32")("the dump of redis", () => {
  // Its client ends with 0 whatever the server replies.
  it.scopedLive.each([
    ["OK", 0, "the data", ""],
    ["ERR Background save already in progress", 1, "", "redis did not save: ERR Background save already in progress\n"]
  ])("after the reply %s ends with %i", ([reply, code, out, err]) =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* plant(directory, {
        "bin/redis-cli": `#!/bin/sh
case "$*" in
  *appendonly) echo no ;;
  *"GET dir") echo ${directory} ;;
  *dbfilename) echo dump.rdb ;;
  *SAVE) echo ${reply} ;;
esac
`,
        "dump.rdb": "the data"
      })
      chmodSync(join(directory, "bin/redis-cli"), 0o755)
      const [program = "", ...args] = redis?.dump ?? []
      const env = { ...process.env, PATH: `${join(directory, "bin")}:${process.env["PATH"] ?? ""}` }
      const { status, stderr, stdout } = spawnSync(program, args, { env, encoding: "utf8" })
      expect([status, stdout, stderr]).toEqual([code, out, err])
    }))
})
