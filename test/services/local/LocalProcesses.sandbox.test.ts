import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Ref, Schedule, Stream } from "effect"
import { existsSync } from "node:fs"
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { type LocalCommand, LocalProcesses, LocalProcessesLive } from "../../../src/services/local/LocalProcesses.ts"
import { slow } from "../../fixtures/thorough.ts"

const node = (script: string, options: Partial<LocalCommand> = {}) =>
  ({
    program: process.execPath,
    args: ["-e", script],
    timeout: "30 seconds",
    maxOutput: 10_000,
    ...options
  }) satisfies LocalCommand

const temporaryFile = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "berth-process-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
).pipe(Effect.map((directory) => join(directory, "pids")))

const runs = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Starts a grandchild that ignores TERM, writes both process ids to a file, and hangs. */
const stubborn = (file: string) => `
  process.on("SIGTERM", () => {})
  const child = require("node:child_process").spawn(
    process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"], { stdio: "inherit" })
  require("node:fs").writeFileSync(${JSON.stringify(file)}, process.pid + " " + child.pid)
  console.log("ready")
  setInterval(() => {}, 1000)
`
const pidsIn = (file: string) =>
  Effect.map(Effect.promise(() => readFile(file, "utf8")), (text) => text.split(" ").map(Number))

/** The system takes a moment to clear away what was killed. */
const areGone = (file: string) =>
  Effect.gen(function*() {
    expect((yield* pidsIn(file)).filter(runs)).toEqual([])
  }).pipe(Effect.sandbox, Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 100 }))

describe("the stream of a program", () => {
  const text = (bytes: Stream.Stream<Uint8Array, unknown>) => Stream.mkString(Stream.decodeText(bytes))

  it.live("is what it prints of what it reads", () =>
    Effect.gen(function*() {
      const { stream } = yield* LocalProcesses
      const input = Stream.range(1, 40).pipe(Stream.map(() => new Uint8Array(64 * 1024).fill(120)))
      const count = "let n = 0; process.stdin.on('data', (d) => n += d.length).on('end', () => console.log(n))"
      expect(yield* text(stream(node(count), input))).toBe(`${40 * 64 * 1024}\n`)
      const echo = node("process.stdin.pipe(process.stdout)")
      expect((yield* text(stream(echo, input))).length).toBe(40 * 64 * 1024)
    }).pipe(Effect.provide(LocalProcessesLive)))

  it.live("fails with its last words, also where it reads no further", () =>
    Effect.gen(function*() {
      const { stream } = yield* LocalProcesses
      const endless = Stream.repeatValue(new Uint8Array(64 * 1024))
      const failing = stream(node("console.error('no room'); process.exitCode = 7; process.stdin.destroy()"), endless)
      expect(yield* Effect.flip(Stream.runDrain(failing))).toMatchObject({
        _tag: "ProgramFailed",
        exitCode: 7,
        words: "no room"
      })
      const missing = Stream.runDrain(stream({ program: "no-such-program", args: [] }))
      expect((yield* Effect.flip(missing))._tag).toBe("ProgramNotFound")
    }).pipe(Effect.provide(LocalProcessesLive)))

  it.scopedLive("ends a program whose input fails before it has read the end", () =>
    Effect.gen(function*() {
      const { stream } = yield* LocalProcesses
      const file = yield* temporaryFile
      const note = `require("node:fs").writeFileSync(${JSON.stringify(file)}, "end")`
      const broken = Stream.concat(Stream.make(new Uint8Array(10)), Stream.fail("the line broke"))
      const reading = stream(node(`process.stdin.resume().on("end", () => { ${note} })`), broken)
      expect(yield* Effect.flip(Stream.runDrain(reading))).toBe("the line broke")
      expect(existsSync(file)).toBe(false)
    }).pipe(Effect.provide(LocalProcessesLive)))
})

describe("LocalProcessesLive", () => {
  it.live("collects both streams and the exit code, and passes on what it hears", () =>
    Effect.gen(function*() {
      const processes = yield* LocalProcesses
      const heard = yield* Ref.make("")
      const exit = yield* processes.run(
        node("console.log('out'); console.error('err'); process.exitCode = 3"),
        (text) => Ref.update(heard, (all) => all + text)
      )
      expect(exit).toMatchObject({ exitCode: 3, timedOut: false })
      expect(exit.output).toContain("out\n")
      expect(exit.output).toContain("err\n")
    }).pipe(Effect.provide(LocalProcessesLive)))

  it.live("keeps its own malloc setting from a build, and its variables from a hook", () =>
    Effect.gen(function*() {
      const { run } = yield* LocalProcesses
      const names = "console.log(Object.keys(process.env).join(' '))"
      const own = { BERTH_OF_SERVICE: "x", MALLOC_ARENA_MAX: "1" }
      const [build, hook] = yield* Effect.acquireUseRelease(
        Effect.sync(() => Object.assign(process.env, own)),
        () => Effect.all([run(node(names)), run(node(names, { variables: { BERTH_RUN: "7" } }))]),
        () => Effect.sync(() => Object.keys(own).forEach((name) => delete process.env[name]))
      )
      expect(build.output.trim().split(" ")).toEqual(expect.arrayContaining(["PATH", "BERTH_OF_SERVICE"]))
      expect(hook.output.trim().split(" ")).toEqual(expect.arrayContaining(["PATH", "BERTH_RUN"]))
      expect(hook.output).not.toContain("BERTH_OF_SERVICE")
      expect(build.output + hook.output).not.toContain("MALLOC_ARENA_MAX")
    }).pipe(Effect.provide(LocalProcessesLive)))

  it.live("passes on what a program said last, however slow the listener is", () =>
    Effect.gen(function*() {
      const processes = yield* LocalProcesses
      const heard = yield* Ref.make("")
      yield* processes.run(
        node("console.log('last words')"),
        (text) => Effect.delay(Ref.update(heard, (all) => all + text), "100 millis")
      )
      expect(yield* Ref.get(heard)).toBe("last words\n")
    }).pipe(Effect.provide(LocalProcessesLive)))

  it.live("keeps the end of a flood, and says how much is missing", () =>
    Effect.gen(function*() {
      const processes = yield* LocalProcesses
      const script = "for (let i = 0; i < 20000; i++) console.log('line ' + i)"
      const { output } = yield* processes.run(node(script, { maxOutput: 1000 }))
      expect(output).toMatch(/^\[the first \d+ bytes are left out\]\n/)
      expect(output).toMatch(/line 19999\n$/)
      expect(output.length).toBeLessThan(1100)
    }).pipe(Effect.provide(LocalProcessesLive)))

  it.live("passes on characters whole that come in pieces, and takes bytes that are no text", () =>
    Effect.gen(function*() {
      const processes = yield* LocalProcesses
      const heard = yield* Ref.make<ReadonlyArray<string>>([])
      const script = `
        const [first, ...rest] = Buffer.from("ö")
        process.stdout.write(Buffer.from([first]))
        setTimeout(() => process.stdout.write(Buffer.from([...rest, 0xff, 0x21])), 300)`
      const { output } = yield* processes.run(node(script), (text) => Ref.update(heard, (all) => [...all, text]))
      expect(output).toBe("ö\ufffd!")
      expect((yield* Ref.get(heard)).join("")).toBe("ö\ufffd!")
    }).pipe(Effect.provide(LocalProcessesLive)))

  it.live("tells a program that was killed from one that ended", () =>
    Effect.gen(function*() {
      const processes = yield* LocalProcesses
      const exit = yield* processes.run(node("process.kill(process.pid, 'SIGKILL')"))
      expect(exit).toEqual({ exitCode: process.platform === "win32" ? 1 : null, timedOut: false, output: "" })
    }).pipe(Effect.provide(LocalProcessesLive)))

  it.live("does not wait for what a program that ended left behind, nor miss one that ends at once", () =>
    Effect.gen(function*() {
      const processes = yield* LocalProcesses
      const script = `
        require("node:child_process").spawn(process.execPath, ["-e", "setTimeout(() => {}, 60000)"], { stdio: "inherit" })
        console.log("done")
        process.exit(0)`
      const started = Date.now()
      expect(yield* processes.run(node(script))).toEqual({ exitCode: 0, timedOut: false, output: "done\n" })
      const quick = Array.from({ length: 10 }, () => processes.run(node("")))
      yield* Effect.all(quick, { concurrency: "unbounded" })
      expect(Date.now() - started).toBeLessThan(25_000)
    }).pipe(Effect.provide(LocalProcessesLive)))

  it.live("takes arguments as they are", () =>
    Effect.gen(function*() {
      const processes = yield* LocalProcesses
      const odd = ["$(id)", "a b", "\"", "'", "%PATH%", "&", "|", "^", "\\", "--x=*", ""]
      const command = node("process.stdout.write(JSON.stringify(process.argv.slice(1)))")
      const { output } = yield* processes.run({ ...command, args: [...command.args, "--", ...odd] })
      expect(JSON.parse(output)).toEqual(odd)
    }).pipe(Effect.provide(LocalProcessesLive)))

  it.live("names a program that is not installed", () =>
    Effect.gen(function*() {
      const processes = yield* LocalProcesses
      const command = { program: "no-such-program-here", args: [] }
      const error = yield* Effect.flip(processes.run({ ...command, timeout: "1 second", maxOutput: 10 }))
      expect(error.message).toMatch(/^Cannot run no-such-program-here: it is not installed/)
      expect((yield* Effect.flip(processes.launch(command)))._tag).toBe("ProgramNotFound")
    }).pipe(Effect.provide(LocalProcessesLive)))

  const isPosix = process.platform !== "win32"
  const isRoot = process.getuid?.() === 0
  const refused = (program: string) =>
    Effect.gen(function*() {
      const processes = yield* LocalProcesses
      const command = { program, args: [], timeout: "1 second", maxOutput: 10 } as const
      const { message } = yield* Effect.flip(processes.run(command))
      expect((yield* Effect.flip(processes.launch(command))).message).toBe(message)
      return message
    }).pipe(Effect.provide(LocalProcessesLive))
  const withPath = (path: string) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const before = process.env["PATH"]
        process.env["PATH"] = path
        return before
      }),
      (before) => Effect.sync(() => (process.env["PATH"] = before))
    )

  it.scopedLive.skipIf(!isPosix)("says of a file that is no program what it may be", () =>
    Effect.gen(function*() {
      const file = yield* temporaryFile
      yield* Effect.promise(() => writeFile(file, "no program", { mode: 0o644 }))
      expect(yield* refused(file)).toMatch(/: the user of this service may not run it/)
      expect(yield* refused(`${file}-none`)).toMatch(/: the program does not exist/)
      expect(yield* refused(`${file}/none/at/all`)).toMatch(/: spawn ENOTDIR$/)
      yield* withPath(dirname(file))
      expect(yield* refused("pids")).toMatch(/: it is not installed, or the user of this service may not run it/)
    }))

  it.scopedLive.skipIf(!isPosix || isRoot)(
    "names a program that is not installed where the PATH is closed in part",
    () =>
      Effect.gen(function*() {
        const closed = dirname(yield* temporaryFile)
        yield* Effect.acquireRelease(
          Effect.promise(() => chmod(closed, 0o000)),
          () => Effect.promise(() => chmod(closed, 0o700))
        )
        yield* withPath(`${closed}:/usr/bin`)
        expect(yield* refused("no-such-program-here")).toMatch(/^Cannot run no-such-program-here: it is not installed/)
      })
  )

  it.scopedLive.runIf(slow)(
    "ends the whole group when the time is over, with KILL what ignores TERM",
    () =>
      Effect.gen(function*() {
        const processes = yield* LocalProcesses
        const file = yield* temporaryFile
        const exit = yield* processes.run({ ...node(stubborn(file)), timeout: "1 second" })
        expect(exit).toMatchObject({ exitCode: null, timedOut: true })
        yield* areGone(file)
      }).pipe(Effect.provide(LocalProcessesLive))
  )

  it.scopedLive.runIf(slow)("ends the whole group when it is interrupted", () =>
    Effect.gen(function*() {
      const processes = yield* LocalProcesses
      const file = yield* temporaryFile
      const ready = yield* Effect.makeLatch()
      const fiber = yield* Effect.fork(processes.run(node(stubborn(file)), () => ready.open))
      yield* ready.await
      yield* Fiber.interrupt(fiber)
      yield* areGone(file)
    }).pipe(Effect.provide(LocalProcessesLive)))
})
