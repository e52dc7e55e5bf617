import { describe, expect, it } from "@effect/vitest"
import { generateX25519Identity, identityToRecipient } from "age-encryption"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { compiled } from "../../fixtures/compiled.ts"
import { patience } from "../../fixtures/patience.ts"
import { settingsFileWith } from "../../fixtures/programs/service.ts"
import { hasTerminal, onTerminal } from "../../fixtures/programs/terminal.ts"

/** A project with an entry of an age file, and one of a program that asks on the terminal and compares the answer. */
const makeScene = Effect.gen(function*() {
  const identity = yield* Effect.promise(() => generateX25519Identity())
  const recipient = yield* Effect.promise(() => identityToRecipient(identity))
  const file = yield* settingsFileWith(`secrets: { identity: ${identity} }\n`)
  const directory = join(dirname(file), "shop")
  mkdirSync(directory)
  writeFileSync(join(directory, "compose.yml"), "services:\n  web:\n    image: web\n    environment: [KEY, UNLOCKED]\n")
  const op = "#!/bin/sh\nprintf 'Master password: ' >/dev/tty\nread -r typed </dev/tty\necho \"planted-for-$typed\"\n"
  writeFileSync(join(directory, "op"), op)
  chmodSync(join(directory, "op"), 0o755)
  writeFileSync(
    join(directory, "container.json"),
    JSON.stringify({ secrets: { KEY: { age: "secrets.age" }, UNLOCKED: { command: ["./op"] } } })
  )
  writeFileSync(join(directory, "secrets.recipients"), `${recipient}\n`)
  return { directory, env: { BERTH_CONFIG: file, NO_COLOR: "1" } }
})

/** Arguments of every process of this machine. */
const processes = (): string =>
  readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1")
    } catch {
      return ""
    }
  }).join("\n")

/** Executes a command in a process of its own, with this standard input. */
const piped = (args: ReadonlyArray<string>, input: string, env: Readonly<Record<string, string>>) =>
  Effect.async<{ readonly code: number | null; readonly output: string; readonly seen: string }>((resume) => {
    const { BERTH_URL: _, ...inherited } = process.env
    const child = spawn(process.execPath, [compiled("src/cli/berth.ts"), ...args], { env: { ...inherited, ...env } })
    let [output, seen] = ["", ""]
    const sampling = setInterval(() => seen += processes(), 100)
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => output += String(chunk))
    child.once("close", (code) => {
      clearInterval(sampling)
      resume(Effect.succeed({ code, output, seen }))
    })
    child.stdin.end(input)
    return Effect.sync(() => child.kill("SIGKILL"))
  })

describe.skipIf(!hasTerminal || process.platform !== "linux")("a secret in a process of its own", () => {
  it.scopedLive(
    "is read from standard input, all lines of it, and stands in no process list",
    () =>
      Effect.gen(function*() {
        const { directory, env } = yield* makeScene
        const value = "planted-line-one $1\nplanted-line-two"
        const set = yield* piped(["secrets", "set", directory, "KEY"], `${value}\n`, env)
        expect([set.code, set.output]).toEqual([0, "KEY is set, for 1 recipient.\n"])
        expect(set.seen).toContain("secrets")
        expect(set.seen).not.toContain("planted")
        const empty = yield* piped(["secrets", "set", directory, "KEY"], "\n", env)
        expect([empty.code, empty.output]).toEqual([
          1,
          expect.stringContaining("The value is empty: nothing was changed")
        ])
        for (const name of readdirSync(directory).filter((name) => name !== "op")) {
          expect(readFileSync(join(directory, name), "utf8")).not.toContain("planted")
        }
      }),
    60_000 * patience
  )

  it.scopedLive(
    "is typed on a terminal without being shown, and a program asks there too",
    () =>
      Effect.gen(function*() {
        const { directory, env } = yield* makeScene
        const set = yield* onTerminal(["secrets", "set", directory, "KEY"], { env })
        yield* set.until(/Value of KEY: /)
        yield* set.type("planted-typee\u007fd\r")
        expect(yield* set.ended).toBe(0)
        expect(set.output()).toContain("KEY is set, for 1 recipient.")
        const checked = yield* onTerminal(["secrets", "check", directory], { env })
        yield* checked.until(/Master password: /)
        yield* checked.type("open sesame\n")
        yield* checked.until(/2 secrets resolved\./)
        expect(yield* checked.ended).toBe(0)
        expect(set.output() + checked.output()).not.toContain("planted")

        const left = yield* onTerminal(["secrets", "set", directory, "KEY"], { env })
        yield* left.until(/Value of KEY: /)
        yield* left.type("planted\u0003")
        expect(yield* left.ended).not.toBe(0)
        expect(left.output()).not.toContain("planted")
      }),
    60_000 * patience
  )
})
