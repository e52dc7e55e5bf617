import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmod } from "node:fs/promises"
import { join } from "node:path"
import { scan } from "../../../../src/pipelines/adoption/serverStacks.ts"
import { settingsTest } from "../../../../src/testing/SettingsTest.ts"
import { worlds } from "../../../fixtures/network/servers.ts"
import { patience } from "../../../fixtures/patience.ts"
import { liveSsh } from "../../../services/ssh/live.ts"

const odd = [
  "$(touch RAN)",
  "`touch RAN`",
  "'; touch RAN #",
  "a b",
  "line\nbreak",
  "-rf",
  "\"q\"",
  "back\\slash",
  "ü",
  "*"
]
const names = [...odd, ...Array.from({ length: 190 - odd.length }, (_, index) => `project-${index}`)].sort()

describe.each(worlds)("scan on $name", ({ available, server: start }) => {
  it.scopedLive.skipIf(!available)(
    "finds 200 directories whatever they are called, in one command",
    () =>
      Effect.gen(function*() {
        const { access, home, isRoot, plant } = yield* start()
        yield* plant({
          ...Object.fromEntries(names.map((name) => [`containers/${name}/compose.yml`, `# ${name}\n`])),
          ...Object.fromEntries(names.map((name) => [`containers/${name}/.env`, "A=1\n"])),
          ...Object.fromEntries(
            Array.from({ length: 8 }, (_, index) => [`containers/link-${index}`, { link: "project-1" }])
          ),
          "containers/closed/compose.yml": "not to be read",
          "containers/unreadable/compose.yml": "not to be read"
        })
        yield* Effect.promise(() => chmod(join(home, "containers", "closed"), 0))
        yield* Effect.promise(() => chmod(join(home, "containers", "unreadable", "compose.yml"), 0))
        const found = yield* scan("server").pipe(Effect.provide([liveSsh(), settingsTest({}, [access])]))
        yield* Effect.promise(() => chmod(join(home, "containers", "closed"), 0o755))
        const expected = isRoot ? [...names, "closed", "unreadable"].sort() : names
        expect(found.map(({ name }) => name).sort()).toEqual(expected)
        for (const project of found.filter(({ name }) => names.includes(name))) {
          expect(project).toEqual({
            name: project.name,
            remotePath: `~/containers/${project.name}`,
            hasComposeFile: true,
            hasEnv: true,
            hasData: false,
            tarFile: null,
            composeFileContent: `# ${project.name}\n`
          })
        }
      }),
    60_000 * patience
  )

  it.scopedLive.skipIf(!available)("finds nothing where nothing was ever deployed", () =>
    Effect.gen(function*() {
      const { access } = yield* start()
      expect(yield* scan("server").pipe(Effect.provide([liveSsh(), settingsTest({}, [access])]))).toEqual([])
    }))
})
