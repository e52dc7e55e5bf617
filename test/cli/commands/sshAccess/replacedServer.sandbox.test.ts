import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { runCli } from "../../../fixtures/programs/cli.ts"
import { settingsFileWith } from "../../../fixtures/programs/service.ts"

describe("berth server add", () => {
  it.scopedLive("replaces a stored server of the name after a yes, under its id", () =>
    Effect.gen(function*() {
      const settingsFile = yield* settingsFileWith(
        "servers:\n  - { id: a, name: Attic, host: attic.invalid, username: ann, agent: true }\n"
      )
      const args = ["server", "add", "attic", "eve@127.0.0.1:1"]
      const { code, err } = yield* runCli({ settingsFile }, args, { columns: 100, answers: [true] })
      expect(err).toContain(
        "The server Attic is stored already, with the id a: ann@attic.invalid:22.\nReplace it? [y/N]"
      )
      expect(err).toMatch(/Replaced attic with the id a\. No credential of attic is stored, .*--id a --key ~\/\.ssh/)
      expect(code).toBe(0)
      expect(readFileSync(settingsFile, "utf8")).toMatch(/^servers:\n.*id: a, name: attic, host: 127\.0\.0\.1.*\n$/)
    }))
})
