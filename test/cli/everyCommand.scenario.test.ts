import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { appendFile, mkdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { makeWorld } from "../../src/sandbox/world.ts"
import { patience } from "../fixtures/patience.ts"
import { runCli, type Way } from "../fixtures/programs/cli.ts"
import { leafCommands } from "../fixtures/programs/leafCommands.ts"
import { settingsFileWith, startService } from "../fixtures/programs/service.ts"
import { settleOutput } from "../fixtures/programs/settleOutput.ts"
import { temporaryDirectory } from "../layers/temporary.ts"

/** Values of another kind: a server's name for a project, and a project's for a server. */
const otherKind: Readonly<Record<string, string>> = { project: "sandbox", server: "hello" }

/** Each command with its arguments left out from the last on, and with names of nothing and of something else. */
const lines = leafCommands.flatMap(({ node, path }) => {
  const behind = node.behind === undefined ? [] : ["--", "ls"]
  const names = node.arguments.map(({ name }) => name)
  const required = node.arguments.filter(({ optional }) => !optional).length
  const counts = names.map((_, index) => index + 1)
    .filter((count) => count === 1 || count <= required || count === names.length)
  const all = [
    path,
    ...behind.length === 0 ? [] : [[...path, ...behind]],
    ...counts.map((count) => [...path, ...Array.from({ length: count }, () => "nobody"), ...behind]),
    ...names.some((name) => name in otherKind)
      ? [[...path, ...names.map((name) => otherKind[name] ?? "nobody"), ...behind]]
      : []
  ]
  return all
})

const must = <A>(make: () => Promise<A>) => Effect.promise(make)

const token = "token-of-eve-0123456789"

describe.skipIf(process.platform === "win32")("every command", () => {
  it.scopedLive("says what is missing, wherever it is called, and whoever calls", () =>
    Effect.gen(function*() {
      const [world, viewed] = [yield* makeWorld, yield* makeWorld]
      // No PowerShell, on every machine.
      yield* must(() => appendFile(world.settingsFile, "build:\n  shell: [/nowhere/pwsh]\n"))
      yield* must(() =>
        appendFile(viewed.settingsFile, `http:\n  tokens:\n    - { name: eve, token: ${token}, role: viewer }\n`)
      )
      const fresh = { settingsFile: yield* settingsFileWith("") }
      const service = { url: (yield* startService(world.settingsFile)).url }
      const viewer = { url: (yield* startService(viewed.settingsFile)).url, token: Redacted.make(token) }
      const outside = yield* temporaryDirectory
      const parent = yield* temporaryDirectory
      const project = join(parent, "shop")
      yield* must(() => mkdir(project))
      yield* must(() => writeFile(join(project, "compose.yml"), "services:\n  web:\n    image: nginx\n"))
      const situations: ReadonlyArray<readonly [name: string, way: Way, directory: string]> = [
        ["fresh", fresh, outside],
        ["fresh, in a project", fresh, project],
        ["service", service, outside],
        ["service, in a project", service, join(world.projects, "hello")],
        ["viewer", viewer, outside]
      ]
      const places = {
        OUTSIDE: outside,
        PARENT: parent,
        FRESH: dirname(fresh.settingsFile),
        WORLD: dirname(world.settingsFile),
        VIEWED: dirname(viewed.settingsFile)
      }
      const here = process.cwd()
      yield* Effect.addFinalizer(() => Effect.sync(() => process.chdir(here)))

      const say = (words: ReadonlyArray<string>, way: Way, directory: string) =>
        Effect.suspend(() => {
          process.chdir(directory)
          return Effect.map(runCli(way, words), ({ code, err, out }) => {
            // Lists depend on the machine; their first line says of what they are.
            const [first] = out.split("\n").filter((line) => line.trim() !== "")
            const told = [
              ...err.trimEnd() === "" ? [] : err.trimEnd().split("\n"),
              ...first === undefined ? [] : [`> ${first}`]
            ]
            return settleOutput([`exit ${code}`, ...told].join("\n      "), places).replace(/(?<=> )\d{4}$/, "PORT")
          })
        })
      const table = yield* Effect.forEach(lines, (words) =>
        Effect.gen(function*() {
          const told = new Map<string, Array<string>>()
          for (const [name, way, directory] of situations) {
            const text = yield* say(words, way, directory)
            told.set(text, [...told.get(text) ?? [], name])
          }
          return [
            `berth ${words.join(" ")}`,
            ...[...told].map(([text, names]) => `  ${told.size === 1 ? "all" : names.join("; ")}: ${text}`)
          ].join("\n")
        }))
      process.chdir(here)
      yield* must(() => expect(`${table.join("\n\n")}\n`).toMatchFileSnapshot("everyCommand.txt"))
    }).pipe(Effect.provide(NodeContext.layer)), 240_000 * patience)
})
