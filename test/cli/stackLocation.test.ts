import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { userInfo } from "node:os"
import { join } from "node:path"
import { resolveProject, resolveWord } from "../../src/cli/stackLocation.ts"
import { Berth } from "../../src/client/Berth.ts"
import { temporaryDirectory } from "../layers/temporary.ts"

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

describe("a word in the directory of a project", () => {
  const projectFiles = ["container.json", "compose.yml", "docker-compose.yaml", "platform.json"]
  it.scoped.each([
    ...projectFiles.map((file) => [file, true] as const),
    ["Dockerfile", false] as const,
    ["Containerfile", false] as const,
    ["index.html", false] as const
  ])("names the project in a directory with %s: %j", ([file, isProject]) =>
    Effect.gen(function*() {
      const here = realpathSync(yield* temporaryDirectory)
      mkdirSync(join(here, "web"))
      writeFileSync(join(here, "web", file), "")
      const before = process.cwd()
      yield* Effect.addFinalizer(() => Effect.sync(() => process.chdir(before)))
      process.chdir(here)
      // Outside of a project, each directory is named.
      expect(yield* resolveWord("web")).toBe(join(here, "web"))
      for (const own of ["compose.yml", "Containerfile"]) {
        writeFileSync(join(here, own), "")
        const found = yield* Effect.either(resolveWord("web"))
        expect(found).toMatchObject(isProject ? { right: join(here, "web") } : { left: { _tag: "NoSuchProject" } })
        expect(yield* resolveProject(Option.none())).toBe(here)
        rmSync(join(here, own))
      }
      expect((yield* Effect.flip(resolveProject(Option.none()))).message).toContain(`${here} is none`)
    }).pipe(
      Effect.provide(Layer.mock(Berth, {
        where: "this process",
        outlives: () => Effect.succeed(false),
        use: (call) => Effect.orDie(call(Object({ listProjects: () => Effect.succeed([]) })))
      }))
    ))
})
