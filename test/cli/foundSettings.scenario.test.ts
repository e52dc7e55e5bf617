import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { compiled } from "../fixtures/compiled.ts"
import { patience } from "../fixtures/patience.ts"
import { hasTerminal, onTerminal } from "../fixtures/programs/terminal.ts"

const cli = "src/cli/berth.ts"
const service = "src/main.ts"

/** A cloned repository whose settings name a server, which counts who comes, and a file of the user. */
const makeScene = Effect.gen(function*() {
  const root = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-found-"))),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
  )
  let callers = 0
  const server = yield* Effect.acquireRelease(
    Effect.async<ReturnType<typeof createServer>>((resume) => {
      const made = createServer((socket) => {
        callers += 1
        socket.destroy()
      })
      made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
    }),
    (made) => Effect.sync(() => void made.close())
  )
  const [repository, home] = [join(root, "repository"), join(root, "home")]
  mkdirSync(repository)
  mkdirSync(home)
  writeFileSync(join(home, "secret"), "hunter2-secret")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const settings = (host: string) =>
    `servers:\n  - { id: "1", name: Theirs, host: ${host}, port: ${port}, username: you, password: "\${file:~/secret}" }\n`
  const write = (host = "127.0.0.1") => writeFileSync(join(repository, "berth.yaml"), settings(host), { mode: 0o600 })
  write()
  const env = { HOME: home, USERPROFILE: home, BERTH_PORT: "0", NO_COLOR: "1" }
  const run = (program: string, args: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}) =>
    Effect.async<{ readonly code: number | null; readonly out: string; readonly err: string }>((resume) => {
      const { BERTH_CONFIG: _, BERTH_URL: __, ...inherited } = process.env
      const child = spawn(process.execPath, [compiled(program), ...args], {
        cwd: repository,
        env: { ...inherited, ...env, ...more },
        stdio: ["ignore", "pipe", "pipe"]
      })
      let [out, err] = ["", ""]
      child.stdout.on("data", (chunk) => out += String(chunk))
      child.stderr.on("data", (chunk) => err += String(chunk))
      child.once("close", (code) => resume(Effect.succeed({ code, out, err })))
      return Effect.sync(() => child.kill("SIGKILL"))
    })
  return { callers: () => callers, env, home, repository, run, write }
})

describe.skipIf(process.platform === "win32")("settings that were only found in the working directory", () => {
  it.scopedLive("make no command do anything, where nobody can confirm them", () =>
    Effect.gen(function*() {
      const { callers, home, repository, run } = yield* makeScene
      const commands: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
        [cli, []],
        [cli, ["ps"]],
        [cli, ["doctor"]],
        [cli, ["server", "list", "--json"]],
        [cli, ["mcp"]],
        [cli, ["serve"]],
        [service, []]
      ]
      for (const [program, args] of commands) {
        const { code, err, out } = yield* run(program, args)
        expect([args, code]).toEqual([args, 1])
        const words = `${out}${err}`
        expect(words).toContain(`${join(repository, "berth.yaml")} is not confirmed`)
        expect(words).toContain("--config berth.yaml")
        expect(words).not.toContain("hunter2-secret")
      }
      expect(yield* run(cli, ["complete", "server", "scan", ""])).toEqual({ code: 0, out: "", err: "" })
      expect((yield* run(cli, ["deploy", "--help"])).code).toBe(0)
      expect([callers(), readdirSync(repository), readdirSync(home)]).toEqual([0, ["berth.yaml"], ["secret"]])
    }), 60_000 * patience)

  it.scopedLive("count where they are named", () =>
    Effect.gen(function*() {
      const { callers, repository, run } = yield* makeScene
      const list = ["server", "list", "--json"]
      const named = { code: 0, out: expect.stringContaining("Theirs"), err: "" }
      expect(yield* run(cli, list, { BERTH_CONFIG: "berth.yaml" })).toEqual(named)
      expect(yield* run(cli, [...list, "--config", "berth.yaml"])).toEqual(named)
      expect(yield* run(cli, ["--config=berth.yaml", ...list])).toEqual(named)
      expect(yield* run(cli, [...list, "--config", join(repository, "none.yaml")])).toMatchObject({
        code: 0,
        out: "[]\n"
      })
      expect(yield* run(cli, [...list, "--config", "a", "--url", "http://127.0.0.1:1"])).toMatchObject({ code: 64 })
      expect(callers()).toBe(0)
      yield* run(cli, ["ps", "--config", "berth.yaml"])
      expect(callers()).toBeGreaterThan(0)
    }), 60_000 * patience)

  it.scopedLive.skipIf(!hasTerminal)("are asked about on a terminal, once for each text", () =>
    Effect.gen(function*() {
      const { callers, env, home, repository, run, write } = yield* makeScene
      const asked = Effect.gen(function*() {
        const terminal = yield* onTerminal(["server", "list"], { cwd: repository, env, columns: 200 })
        yield* terminal.until(/Use it from now on, until it changes\? \[y\/N\] /)
        return terminal
      })
      const note = join(home, ".config", "berth", "trusted")
      const first = yield* asked
      for (const word of [join(repository, "berth.yaml"), "log in to you@127.0.0.1", "read ${file:~/secret}"]) {
        expect(first.output()).toContain(word)
      }
      yield* first.type("n\n")
      expect([yield* first.ended, readdirSync(home), callers()]).toEqual([1, ["secret"], 0])

      const second = yield* asked
      yield* second.type("y\n")
      yield* second.until(/Theirs/)
      expect([yield* second.ended, statSync(note).mode & 0o777]).toEqual([0, 0o600])
      expect(JSON.parse(readFileSync(note, "utf8"))).toEqual([
        { file: join(repository, "berth.yaml"), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }
      ])
      expect((yield* run(cli, ["server", "list"])).out).toContain("Theirs")

      write("localhost")
      const changed = yield* run(cli, ["server", "list"])
      expect([changed.code, changed.err]).toEqual([1, expect.stringContaining("has changed since it was confirmed")])
      write()
      expect((yield* run(cli, ["server", "list"])).code).toBe(0)
    }), 60_000 * patience)
})
