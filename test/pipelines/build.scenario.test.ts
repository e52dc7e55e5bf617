import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, Ref } from "effect"
import { existsSync } from "node:fs"
import { chmod, readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { build } from "../../src/pipelines/build.ts"
import { buildOutputLimit } from "../../src/pipelines/build/buildImages.ts"
import { LocalFilesLive } from "../../src/services/local/LocalFiles.ts"
import { LocalProcessesLive } from "../../src/services/local/LocalProcesses.ts"
import { LocksLive } from "../../src/services/locks/Locks.ts"
import { runsLayer } from "../../src/services/runs/engine.ts"
import { Runs } from "../../src/services/runs/Runs.ts"
import { localProcessesTest, type Started } from "../../src/testing/LocalFilesTest.ts"
import { RunStoreMemory } from "../../src/testing/RunsTest.ts"
import { type SettingsFixture, settingsTest } from "../../src/testing/SettingsTest.ts"
import { sshTest } from "../../src/testing/SshTest.ts"
import { patience } from "../fixtures/patience.ts"
import { inPart, slow } from "../fixtures/thorough.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

const live = Layer.mergeAll(
  Layer.provideMerge(LocalFilesLive, NodeContext.layer),
  LocalProcessesLive,
  sshTest({}),
  runsLayer("1 second").pipe(Layer.provide([LocksLive, RunStoreMemory, settingsTest()]))
)

/** A project whose build script is for `sh`, and a stand-in for PowerShell that runs it. */
const project = (script: string, settings: SettingsFixture = {}) =>
  Effect.gen(function*() {
    const root = yield* temporaryDirectory
    yield* plant(root, {
      "app/build-image-tar.ps1": script,
      "pwsh": "#!/bin/sh\nprintf '%s|' \"$@\" >asked\nfor script do :; done\n. \"$script\"\n"
    })
    const settingsLayer = settingsTest({ "build.shell": ["sh", join(root, "pwsh")], ...settings })
    return { directory: join(root, "app"), settingsLayer }
  })

const isAlive = (pid: number) =>
  Effect.sync(() => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  })
const eventually = <A>(effect: Effect.Effect<A>, holds: (value: A) => boolean) =>
  effect.pipe(
    Effect.delay(Duration.millis(20)),
    Effect.repeat({ until: holds }),
    Effect.timeout("15 seconds"),
    Effect.orDie
  )
const pidIn = (file: string) =>
  eventually(
    Effect.promise(async () => existsSync(file) ? Number((await readFile(file, "utf8")).trim()) : 0),
    (pid) => pid > 0
  )

const megabytes = inPart(500, 50)

describe.skipIf(process.platform === "win32")("build", () => {
  it.scopedLive("runs the script in its directory and tells the archive it wrote", () =>
    Effect.gen(function*() {
      const { directory, settingsLayer } = yield* project(
        "echo building; echo and complaining >&2; echo x >app.tar; pwd"
      )
      yield* plant(directory, { "old.tar": "old" })
      const result = yield* build({ projectPath: directory }).pipe(Effect.provide(settingsLayer))
      expect(result).toMatchObject({ success: true, tarFile: "app.tar", exitCode: 0 })
      expect(result.output).toContain("building")
      expect(result.output).toContain("and complaining")
      expect(result.output).toContain(directory)
      expect(result.durationMs).toBeGreaterThanOrEqual(0)
    }).pipe(Effect.provide(live)))

  it.scopedLive("gives PowerShell's flags to PowerShell alone", () =>
    Effect.gen(function*() {
      const { directory, settingsLayer } = yield* project("")
      const asked = Effect.promise(() => readFile(join(directory, "asked"), "utf8"))
      const script = join(directory, "build-image-tar.ps1")
      yield* build({ projectPath: directory }).pipe(Effect.provide(settingsLayer))
      expect(yield* asked).toBe(`${script}|`)
      const pwsh = join(directory, "..", "pwsh")
      yield* Effect.promise(() => chmod(pwsh, 0o755))
      yield* build({ projectPath: directory }).pipe(Effect.provide(settingsTest({ "build.shell": [pwsh] })))
      expect(yield* asked).toBe(`-NoProfile|-NonInteractive|-File|${script}|`)
    }).pipe(Effect.provide(live)))

  it.scopedLive("answers a script that fails as a result, without an older archive", () =>
    Effect.gen(function*() {
      const { directory, settingsLayer } = yield* project("echo no space left; exit 3")
      yield* plant(directory, { "old.tar": "old" })
      const result = yield* build({ projectPath: directory }).pipe(Effect.provide(settingsLayer))
      expect(result).toMatchObject({ success: false, tarFile: null, exitCode: 3, output: "no space left\n" })
    }).pipe(Effect.provide(live)))

  it.scopedLive(`keeps the end of ${megabytes} MB of output, in little memory`, () =>
    Effect.gen(function*() {
      const { directory, settingsLayer } = yield* project(
        `head -c ${megabytes}000000 /dev/zero | tr '\\000' x; echo; echo the end`
      )
      const before = process.memoryUsage.rss()
      const result = yield* build({ projectPath: directory }).pipe(Effect.provide(settingsLayer))
      expect(result.success).toBe(true)
      expect(result.output.length).toBeLessThan(buildOutputLimit + 1000)
      expect(result.output).toMatch(/xxx\nthe end\n$/)
      expect(process.memoryUsage.rss() - before).toBeLessThan(320 * 1024 * 1024)
    }).pipe(Effect.provide(live)), 120_000 * patience)

  it.scopedLive("stops a script that hangs, and everything that it started", () =>
    Effect.gen(function*() {
      const { directory, settingsLayer } = yield* project(
        "echo waiting; sh -c 'echo $$ >grandchild; while :; do sleep 1; done' & wait",
        { "build.timeout": Duration.millis(1500) }
      )
      const result = yield* build({ projectPath: directory }).pipe(Effect.provide(settingsLayer))
      expect(result).toMatchObject({ success: false, exitCode: null, tarFile: null })
      expect(result.output).toMatch(/^waiting\n\nStopped after 1s 500ms: see the setting build\.timeout\n$/)
      const pid = yield* pidIn(join(directory, "grandchild"))
      yield* eventually(isAlive(pid), (alive) => !alive)
    }).pipe(Effect.provide(live)), 60_000 * patience)

  it.scopedLive.runIf(slow)("kills what does not listen to TERM", () =>
    Effect.gen(function*() {
      const { directory, settingsLayer } = yield* project(
        "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ >grandchild; while :; do sleep 1; done' & while :; do sleep 1; done",
        { "build.timeout": Duration.millis(1000) }
      )
      const result = yield* build({ projectPath: directory }).pipe(Effect.provide(settingsLayer))
      expect(result).toMatchObject({ success: false, exitCode: null })
      yield* eventually(isAlive(yield* pidIn(join(directory, "grandchild"))), (alive) => !alive)
    }).pipe(Effect.provide(live)), 60_000 * patience)

  it.scopedLive("does not wait for what a finished script leaves behind", () =>
    Effect.gen(function*() {
      const { directory, settingsLayer } = yield* project("sh -c 'echo $$ >grandchild; sleep 300' & echo done")
      const [elapsed, result] = yield* Effect.timed(
        build({ projectPath: directory }).pipe(Effect.provide(settingsLayer))
      )
      expect(result).toMatchObject({ success: true, exitCode: 0 })
      expect(Duration.toSeconds(elapsed)).toBeLessThan(20)
      yield* eventually(isAlive(yield* pidIn(join(directory, "grandchild"))), (alive) => !alive)
    }).pipe(Effect.provide(live)), 60_000 * patience)

  it.scopedLive("goes on when its caller leaves, and ends when the service stops", () =>
    Effect.gen(function*() {
      const { directory, settingsLayer } = yield* project("echo $$ >pid; while :; do sleep 1; done")
      yield* Effect.gen(function*() {
        const caller = yield* Effect.fork(build({ projectPath: directory }).pipe(Effect.provide(settingsLayer)))
        const pid = yield* pidIn(join(directory, "pid"))
        yield* Fiber.interrupt(caller)
        expect(yield* isAlive(pid)).toBe(true)
        expect((yield* (yield* Runs).list({})).runs).toMatchObject([{ kind: "build", state: "running" }])
      }).pipe(Effect.provide(live))
      yield* eventually(isAlive(yield* pidIn(join(directory, "pid"))), (alive) => !alive)
    }), 60_000 * patience)

  it.scopedLive("builds a project once at a time", () =>
    Effect.gen(function*() {
      const { directory, settingsLayer } = yield* project("mkdir busy || exit 1; sleep 0.3; rmdir busy")
      const results = yield* Effect.all([1, 2, 3].map(() => build({ projectPath: directory })), {
        concurrency: "unbounded"
      }).pipe(Effect.provide(settingsLayer))
      expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0])
    }).pipe(Effect.provide(live)), 60_000 * patience)

  it.scopedLive("names a shell that is not installed", () =>
    Effect.gen(function*() {
      const { directory, settingsLayer } = yield* project("", { "build.shell": ["berth-no-such-shell", "-x"] })
      const error = yield* Effect.flip(build({ projectPath: directory }).pipe(Effect.provide(settingsLayer)))
      expect(error).toMatchObject({ _tag: "ProgramNotFound", status: 500 })
      expect(error.message).toBe(
        "Cannot run berth-no-such-shell: it is not installed, or not on the PATH of this service " +
          "(or the directory to run it in is gone). The setting build.shell names it"
      )
    }).pipe(Effect.provide(live)))

  it.scopedLive("runs the script for a shell where there is no PowerShell, or no script for it", () =>
    Effect.gen(function*() {
      const { directory, settingsLayer } = yield* project("echo for PowerShell")
      yield* plant(directory, { "build-image-tar.sh": "echo for sh; echo x >app.tar; pwd" })
      const building = build({ projectPath: directory })
      const output = (layer: typeof settingsLayer) => Effect.map(Effect.provide(building, layer), (made) => made.output)
      expect(yield* output(settingsTest({ "build.shell": [join(directory, "..", "pwsh")] }))).toBe(
        `for sh\n${directory}\n`
      )
      yield* Effect.promise(() => chmod(join(directory, "..", "pwsh"), 0o755))
      expect(yield* output(settingsTest({ "build.shell": [join(directory, "..", "pwsh")] }))).toBe("for PowerShell\n")
      expect(yield* output(settingsTest({ "build.shell": ["sh"] }))).toBe("for PowerShell\n")
      yield* Effect.promise(() => rm(join(directory, "build-image-tar.ps1")))
      expect(yield* building.pipe(Effect.provide(settingsLayer))).toMatchObject({ success: true, tarFile: "app.tar" })
    }).pipe(Effect.provide(live)))

  it.scopedLive("does not hide that build.shell names a shell that is not there", () =>
    Effect.gen(function*() {
      const { directory, settingsLayer } = yield* project("", { "build.shell": ["berth-no-such-shell"] })
      yield* plant(directory, { "build-image-tar.sh": "echo for sh" })
      const error = yield* Effect.flip(build({ projectPath: directory }).pipe(Effect.provide(settingsLayer)))
      expect(error.message).toMatch(/^Cannot run berth-no-such-shell: /)
    }).pipe(Effect.provide(live)))

  it.scopedLive("says what can be run without PowerShell", () =>
    Effect.gen(function*() {
      const { directory, settingsLayer } = yield* project("", { "build.shell": ["/nowhere/pwsh"] })
      const error = yield* Effect.flip(build({ projectPath: directory }).pipe(Effect.provide(settingsLayer)))
      expect(error.message).toBe(
        "Cannot run /nowhere/pwsh: the program does not exist (or the directory to run it in is gone). " +
          "The setting build.shell names it; without PowerShell, a build-image-tar.sh beside the script is run"
      )
    }).pipe(Effect.provide(live)))

  it.live.each<[string, string]>([
    ["#!/usr/bin/env bash\n", "bash"],
    ["#!/bin/bash -eu\n", "bash"],
    ["#!/bin/sh\n# not bash\n", "sh"],
    ["", "sh"]
  ])("runs a script that begins with %j in %s", ([start, shell]) =>
    Effect.gen(function*() {
      const { directory } = yield* project("")
      yield* plant(directory, { "build-image-tar.sh": start })
      const started = yield* Ref.make<ReadonlyArray<Started>>([])
      const programs = localProcessesTest({ bash: "", sh: "" }, started)
      yield* build({ projectPath: directory }).pipe(
        Effect.provide([programs, settingsTest({ "build.shell": ["pwsh"] })])
      )
      expect(yield* Ref.get(started)).toEqual([
        { program: shell, args: [join(directory, "build-image-tar.sh")], cwd: directory }
      ])
    }).pipe(Effect.scoped, Effect.provide(live)))

  it.scopedLive("wants a directory with a script", () =>
    Effect.gen(function*() {
      const root = yield* temporaryDirectory
      for (const path of ["app", join(root, "none"), root]) {
        expect((yield* Effect.flip(build({ projectPath: path }))).status).toBe(400)
      }
      const error = yield* Effect.flip(build({ projectPath: root }))
      expect(error.message).toContain("has no build-image-tar.ps1, nor a build-image-tar.sh: init writes both")
      expect((yield* (yield* Runs).list({})).runs).toEqual([])
    }).pipe(Effect.provide([live, settingsTest()])))
})
