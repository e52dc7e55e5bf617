import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { userInfo } from "node:os"
import { join } from "node:path"
import { resolveProject } from "../../src/cli/stackLocation.ts"
import { Berth } from "../../src/client/Berth.ts"

// With an empty or relative HOME the files of the working directory would pass for the user's own.
const homes: ReadonlyArray<readonly [home: string | undefined, means: string]> = [
  ["/home/of its own", "/home/of its own"],
  ["/home/$& $'", "/home/$& $'"],
  ["", userInfo().homedir],
  ["relative", userInfo().homedir],
  [undefined, userInfo().homedir]
]

describe.skipIf(process.platform === "win32")("a path of a project", () => {
  it.scoped.each(homes)("takes ~ for the home directory, where HOME is %j", (
    [home, means]
  ) =>
    Effect.gen(function*() {
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          const before = process.env["HOME"]
          if (home === undefined) delete process.env["HOME"]
          else process.env["HOME"] = home
          return before
        }),
        (before) =>
          Effect.sync(() => {
            if (before === undefined) delete process.env["HOME"]
            else process.env["HOME"] = before
          })
      )
      expect(yield* resolveProject(Option.some("~/a project"))).toBe(join(means, "a project"))
    }).pipe(Effect.provide(Layer.mock(Berth, { where: "this process", outlives: () => Effect.succeed(false) }))))
})
