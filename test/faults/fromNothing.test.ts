import { describe, expect, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import type { Scope } from "effect"
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { chmod, chown, cp, mkdir, mkdtemp, readdir, rename, rm, utimes, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { freePort } from "../fixtures/network/freePort.ts"
import { run } from "../fixtures/network/openssh.ts"
import { root } from "../fixtures/packed.ts"
import { patience } from "../fixtures/patience.ts"
import { temporaryDirectory } from "../layers/temporary.ts"

// A machine where nothing is set up: README's commands in a fresh clone, each with its exit status and what it prints.

const must = <A>(make: () => Promise<A>) => Effect.promise(make)
const isRoot = process.platform === "linux" && process.getuid?.() === 0

/** A user of this machine with an empty home directory. */
interface Newcomer {
  readonly name: string
  readonly home: string
  readonly uid: number
  readonly gid: number
}

const makeNewcomer: Effect.Effect<Newcomer, never, Scope.Scope> = Effect.gen(function*() {
  const name = `bn${randomBytes(5).toString("hex")}`
  const home = join(yield* temporaryDirectory, "home")
  // Others may hold the lock of /etc/passwd.
  const patiently = Effect.retry({ schedule: Schedule.spaced("200 millis"), times: 50 })
  yield* Effect.acquireRelease(
    Effect.orDie(patiently(run("useradd", ["--no-create-home", "--home-dir", home, "--shell", "/bin/sh", name]))),
    () => Effect.ignore(patiently(run("userdel", [name])))
  )
  const idOf = (option: string) => Effect.map(Effect.orDie(run("id", [option, name])), Number)
  const [uid, gid] = [yield* idOf("-u"), yield* idOf("-g")]
  yield* must(async () => {
    await chmod(dirname(home), 0o755)
    await mkdir(home, { mode: 0o755 })
    await chown(home, uid, gid)
  })
  return { name, home, uid, gid }
})

/** A clone of what git has, with the packages and the build of this checkout. */
const makeClone = (owner: Newcomer) =>
  Effect.gen(function*() {
    const parent = yield* Effect.acquireRelease(
      must(() => mkdtemp(join(tmpdir(), "berth-clone-"))),
      (path) => must(() => rm(path, { recursive: true, force: true }))
    )
    yield* must(() => chmod(parent, 0o755))
    const clone = join(parent, "berth")
    yield* Effect.orDie(
      run("git", ["-c", "safe.directory=*", "clone", "--quiet", "--depth=1", `file://${root}`, clone])
    )
    const packages = join(clone, "node_modules")
    const names = (yield* must(() => readdir("node_modules"))).filter((name) =>
      !name.startsWith(".") || [".bin", ".package-lock.json"].includes(name)
    )
    const sources = names.map((name) => join("node_modules", name))
    yield* must(() => mkdir(packages))
    yield* must(() => cp("dist", join(clone, "dist"), { recursive: true, preserveTimestamps: true }))
    yield* must(() => utimes(join(clone, "package-lock.json"), 0, 0))
    // Before the packages: their files are links to those of this checkout.
    yield* Effect.orDie(run("chown", ["-R", `${owner.uid}:${owner.gid}`, clone]))
    // Links take half a second where copies take a minute; between two file systems there are none.
    yield* Effect.orDie(Effect.orElse(
      run("cp", ["-al", ...sources, packages]),
      () => run("cp", ["-a", ...sources, packages])
    ))
    return clone
  })

interface Ending {
  readonly code: number | null
  readonly output: string
  readonly seconds: number
}

/** A program of a user without a terminal, in another locale and time zone; it ends with the scope. */
const start = (user: Newcomer, cwd: string, command: string, environment: Readonly<Record<string, string>> = {}) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const begun = performance.now()
      const parts: Array<string> = []
      const child = spawn("/bin/sh", ["-c", command], {
        cwd,
        uid: user.uid,
        gid: user.gid,
        // A session of its own has no terminal, and is ended as a whole.
        detached: true,
        stdio: ["ignore", "pipe", "pipe"],
        env: {
          HOME: user.home,
          PATH: `${dirname(user.home)}/bin:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
          LANG: "de_DE.UTF-8",
          LC_ALL: "tr_TR.UTF-8",
          TZ: "Pacific/Apia",
          npm_config_update_notifier: "false",
          ...environment
        }
      })
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => parts.push(String(chunk)))
      const signal = (name: NodeJS.Signals) => {
        if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
          process.kill(-child.pid, name)
        }
      }
      const ended = Effect.async<Ending>((resume) => {
        const end = () =>
          resume(Effect.succeed({
            code: child.exitCode,
            output: parts.join(""),
            seconds: (performance.now() - begun) / 1000
          }))
        if (child.exitCode !== null || child.signalCode !== null) end()
        else child.once("close", end)
      })
      return { output: () => parts.join(""), ended, signal }
    }),
    ({ signal }) => Effect.sync(() => signal("SIGKILL"))
  )

const finish = (...args: Parameters<typeof start>) =>
  Effect.scoped(Effect.flatMap(start(...args), ({ ended }) => ended))

/** Waits until a program has printed what fits; an end before that is a failure with all that it printed. */
const printed = (program: Effect.Effect.Success<ReturnType<typeof start>>, wanted: RegExp) =>
  Effect.suspend(() => Effect.fromNullable(wanted.exec(program.output())?.[1])).pipe(
    Effect.retry({ schedule: Schedule.spaced("50 millis"), times: 600 * patience }),
    Effect.orDieWith(() => new Error(`${wanted} was not printed: ${program.output()}`))
  )

const installBerth = (user: Newcomer, clone: string) =>
  must(async () => {
    const bin = join(dirname(user.home), "bin")
    await mkdir(bin)
    const program = join(bin, "berth")
    await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${join(clone, "dist/service/cli.js")}' "$@"\n`)
    await chmod(program, 0o755)
  })

/** Commands of README's blocks of shell text, with what follows them as a comment. */
const blocks = () =>
  [...readFileSync(join(root, "README.md"), "utf8").matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = ""]) => block)
const commandsOf = (block: string) =>
  block.replaceAll("\\\n", "").split("\n").map((line) => line.replace(/ +#.*/, "")).filter((line) => line !== "")

/** A stack, a warning of Node, a complaint about the locale: what nobody should see. */
const leftover = /\n\s+at |Warning:|locale|undefined|\[object /i

// npm itself may end by the signal of Ctrl-C, once what it started has ended.
const byCtrlC = [0, 130, null]

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

/** `npm start` and the commands beside it, where neither settings nor history exist. */
const useService = (user: Newcomer, clone: string) =>
  Effect.gen(function*() {
    const port = String(yield* freePort)
    const service = yield* start(user, clone, "exec npm start", { BERTH_PORT: port })
    const url = yield* printed(service, /listens on (http:\S+[^.\s])/)
    expect((yield* must(() => fetch(url))).status).toBe(200)
    const settings = join(user.home, ".config/berth")
    yield* Effect.sync(() => existsSync(join(settings, "berth.service"))).pipe(
      Effect.repeat({ until: (is) => is, schedule: Schedule.spaced("50 millis") }),
      Effect.timeout(`${10 * patience} seconds`),
      Effect.orDie
    )
    expect([modeOf(settings), modeOf(join(settings, "berth.service"))]).toEqual(["700", "600"])
    // They find the service by themselves. Without it no server is there yet, which is said with a status of its own.
    for (const [command, code] of [["berth", 0], ["berth runs", 0], ["berth server list", 0]] as const) {
      const ending = yield* finish(user, user.home, command)
      expect(ending, command).toMatchObject({ code })
      expect(ending.output, command).not.toMatch(leftover)
      expect(ending.output, command).not.toMatch(/another berth/)
      expect(ending.seconds, command).toBeLessThan(5 * patience)
    }
    const second = yield* finish(user, clone, "exec npm start", { BERTH_PORT: port })
    expect(second.code).toBe(1)
    expect(second.output).toMatch(/the port is in use\. Set BERTH_PORT to another one, or stop what uses it/)
    service.signal("SIGINT")
    expect(byCtrlC).toContain((yield* service.ended).code)
    expect(service.output()).not.toMatch(leftover)
    expect(existsSync(join(settings, "berth.service"))).toBe(false)
    // Neither a service nor a server: the answer is the same, from the files.
    const alone = yield* finish(user, user.home, "berth runs")
    expect(alone).toMatchObject({ code: 0 })
    expect(alone.output).not.toMatch(leftover)
    expect(readdirSync(user.home).filter((name) => ![".config", ".local", ".npm"].includes(name))).toEqual([])
  })

/** `npm run sandbox`, the line that it says to paste, and README's commands after it from top to bottom. */
const useSandbox = (user: Newcomer, clone: string) =>
  Effect.gen(function*() {
    const sandbox = yield* start(user, clone, "exec npm run sandbox", { BERTH_PORT: String(yield* freePort) })
    const pasted = yield* printed(sandbox, /^\s*(export BERTH=.*)$/m)
    yield* printed(sandbox, /(Ctrl-C ends it)/)
    const commands = blocks().filter((block) => /berth deploy hello|\$BERTH/.test(block)).flatMap(commandsOf)
    expect(commands.length).toBeGreaterThan(6)
    for (const command of commands) {
      const ending = yield* finish(user, user.home, `${pasted}\n${command}`)
      expect([command, ending.code, ending.output]).toEqual([command, 0, ending.output])
      expect(ending.output, command).not.toMatch(leftover)
      if (command.startsWith("curl")) expect(ending.output, command).not.toContain("\"error\"")
    }
    sandbox.signal("SIGINT")
    expect(byCtrlC).toContain((yield* sandbox.ended).code)
    expect(sandbox.output()).not.toMatch(leftover)
  })

const title = `a machine where nothing is set up${isRoot ? "" : " (needs root on Linux)"}`

describe.skipIf(!isRoot)(title, { timeout: 120_000 * patience }, () => {
  it.scopedLive("takes README's commands in a fresh clone, of its owner and of a second user without rights on it", () =>
    Effect.gen(function*() {
      const [owner, other] = [yield* makeNewcomer, yield* makeNewcomer]
      const clone = yield* makeClone(owner)
      for (const user of [owner, other]) yield* installBerth(user, clone)

      // Before anything is built, the second user can do nothing here, and is told so in one sentence.
      const built = join(clone, "dist")
      yield* must(() => rename(built, `${built}-kept`))
      for (const command of ["npm start", "npm run sandbox", "npm test"]) {
        const refused = yield* finish(other, clone, `exec ${command}`)
        expect(refused.code, refused.output).toBe(1)
        const lines = refused.output.split("\n").filter((line) => line !== "" && !line.startsWith("> "))
        expect(lines).toEqual([
          expect.stringMatching(new RegExp(`^Cannot .*: ${other.name} may not write to ${clone}`))
        ])
      }
      yield* must(() => rename(`${built}-kept`, built))
      // As a build by the owner leaves it: the stamps name the newest source.
      const stamped = yield* finish(owner, clone, stampBuild)
      expect(stamped, stamped.output).toMatchObject({ code: 0 })

      const [first = "", ...others] = blocks()
      expect(commandsOf(first)).toEqual(["npm start", "npm run sandbox", "npm test"])
      expect(others.some((block) => block.startsWith("npm pack && npm install"))).toBe(true)
      yield* Effect.all([useService(owner, clone), useService(other, clone)], { concurrency: 2 })
      yield* Effect.all([useSandbox(owner, clone), useSandbox(other, clone)], { concurrency: 2 })

      // One file of the suite, whose own run takes minutes.
      const tested = yield* finish(owner, clone, "exec npm test -- test/schema/words/quoted.test.ts")
      expect(tested, tested.output).toMatchObject({ code: 0 })
      const packed = yield* finish(owner, clone, "exec npm pack --silent")
      expect(packed, packed.output).toMatchObject({ code: 0 })
      expect(packed.output).toMatch(/^berth-\d+\.\d+\.\d+\.tgz\n$/m)
    }))
})

/** Writes the stamps of a finished build by the rule of scripts/npm-task.mjs. */
const stampBuild = `exec node -e '
const { existsSync, readdirSync, statSync, writeFileSync } = require("node:fs")
const { join } = require("node:path")
const newest = (path) => {
  const status = statSync(path)
  return status.isDirectory() ? Math.max(status.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name)))) : status.mtimeMs
}
const files = ["src", "scripts", "tsconfig.json", "tsconfig.build.json", "package-lock.json"]
for (const stamp of ["dist/.packed", "dist/.built"]) writeFileSync(stamp, String(Math.max(...files.map(newest))))'`
