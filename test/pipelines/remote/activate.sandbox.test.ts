import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { activateCommand } from "../../../src/pipelines/remote/activate.ts"
import { runHere, shells } from "../../layers/RemoteHere.ts"
import { temporaryDirectory } from "../../layers/temporary.ts"

describe.each(shells)("an activation whose connection breaks at once, in $name", (shell) => {
  it.scopedLive("changes nothing where it has not heard all of what to do", () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      mkdirSync(join(home, "app/.berth"), { recursive: true })
      const command = activateCommand({
        run: "r1",
        remotePath: "~/app",
        composeKind: "v2",
        composeVersion: "2",
        composeFile: "compose.yml",
        containerdStore: false,
        source: { from: "none", archive: "", names: [], format: "", expected: "" },
        envFiles: { brought: [], gone: [] },
        images: [],
        release: ["by\tärger", "compose\tcompose.yml"]
      }, false)
      const answer = yield* runHere({ ...command, stdin: (command.stdin ?? "").slice(0, -2) }, { home, shell })
      expect(answer).toMatchObject({ code: 1, stderr: "the connection broke before anything was changed\n" })
      expect(readdirSync(join(home, "app/.berth"))).toEqual([])
      // All of it is heard, and something else is in the way.
      const { stderr } = yield* runHere(command, { home, shell })
      expect(stderr).not.toContain("the connection broke")
    }))
})
