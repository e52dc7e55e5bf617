import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { chmod, readdir, readFile, stat, symlink, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { buildStagedNames, discardStaged, proxyExit, readProxyFile, writeProxyFile } from "../../src/remote/proxy.ts"
import type { RemoteCommand } from "../../src/services/ssh/Ssh.ts"
import { runHere, shells } from "../layers/RemoteHere.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

const copies = buildStagedNames("x1")
const odd = "http:\r\n  routers: {}\n\u00e9 \ttext\u0000without end"
const next = "http:\n  routers:\n    app: {}\n"

const programOf = (name: string) => spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim()

describe.each(shells)("the proxy file in $name", (shell) => {
  // A shell of busybox runs its own programs before all others.
  const takesStandIns = shell.name !== "busybox"
  /** A home with a proxy file and staged copies; the directory's name needs quoting. */
  const prepared = (content: { readonly now?: string; readonly before?: string; readonly after?: string } = {}) =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      const file = join(home, "it's $(here)", "routes.yml")
      yield* plant(home, {
        "it's $(here)/routes.yml": content.now ?? odd,
        [copies.before]: content.before ?? odd,
        [copies.after]: content.after ?? next
      })
      // Not every busybox has a flock of its own.
      yield* plant(home, { "flock/flock": { link: programOf("flock") } })
      const run = (command: RemoteCommand, programs = join(home, "flock")) =>
        runHere(command, { shell, home, programs })
      const holds = (name = file) => Effect.promise(() => readFile(name, "utf8"))
      const names = (directory = home) => Effect.promise(async () => (await readdir(directory)).sort())
      return { home, file, holds, names, run }
    })
  /** Programs that come before the real ones. */
  const standIns = (home: string, scripts: { readonly [name: string]: string }) =>
    Effect.gen(function*() {
      const directory = join(home, "bin")
      yield* plant(
        home,
        Object.fromEntries(Object.entries(scripts).map(([name, text]) => [`bin/${name}`, `#!/bin/sh\n${text}\n`]))
      )
      yield* Effect.promise(() => Promise.all(Object.keys(scripts).map((name) => chmod(join(directory, name), 0o755))))
      return directory
    })
  /** Locks as a Berth does, on this machine, for as long as the scope lives. */
  const lockedBy = (mode: "-s" | "-x") =>
    Effect.acquireRelease(
      Effect.async<ReturnType<typeof spawn>>((resume) => {
        const holder = spawn("sh", ["-c", `exec 9</; flock ${mode} 9; echo held; exec sleep 60`])
        holder.stdout.once("data", () => resume(Effect.succeed(holder)))
      }),
      (holder) => Effect.sync(() => holder.kill("SIGKILL"))
    )

  it.scoped("is read whole", () =>
    Effect.gen(function*() {
      const { file, run } = yield* prepared()
      expect(yield* run(readProxyFile(file))).toEqual({ code: 0, stdout: odd, stderr: expect.stringMatching(/^ *$/) })
    }))

  it.scoped("tells why it cannot be read", () =>
    Effect.gen(function*() {
      const { home, run } = yield* prepared()
      const { code, stderr } = yield* run(readProxyFile(join(home, "none.yml")))
      expect(code).toBe(1)
      expect(stderr).toContain("No such file")
    }))

  it.scoped("is written in place, with what it held beside it", () =>
    Effect.gen(function*() {
      const { file, holds, home, names, run } = yield* prepared()
      yield* Effect.promise(() => chmod(file, 0o644))
      const inode = yield* Effect.promise(() => stat(file))
      expect(yield* run(writeProxyFile(file, copies))).toMatchObject({ code: 0, stdout: "" })
      expect(yield* holds()).toBe(next)
      expect(yield* holds(`${file}.berth-bak`)).toBe(odd)
      const after = yield* Effect.promise(() => stat(file))
      expect([after.ino, after.mode]).toEqual([inode.ino, inode.mode])
      expect((yield* Effect.promise(() => stat(`${file}.berth-bak`))).mode & 0o777).toBe(0o600)
      expect(yield* names()).toEqual(["flock", "it's $(here)"])
      expect(yield* names(join(home, "it's $(here)"))).toEqual(["routes.yml", "routes.yml.berth-bak"])
    }))

  it.scoped("is left alone when it holds something else than what was read", () =>
    Effect.gen(function*() {
      const { file, holds, home, names, run } = yield* prepared({ before: `${odd}.` })
      expect((yield* run(writeProxyFile(file, copies))).code).toBe(proxyExit.changed)
      expect(yield* holds()).toBe(odd)
      expect(yield* names()).toHaveLength(2)
      expect(yield* names(join(home, "it's $(here)"))).toEqual(["routes.yml"])
    }))

  it.scoped("is left alone when no copy can be kept", () =>
    Effect.gen(function*() {
      const { file, holds, home, names, run } = yield* prepared()
      yield* Effect.promise(() => writeFile(join(home, "elsewhere"), "untouched"))
      yield* Effect.promise(() => symlink(join(home, "elsewhere"), `${file}.berth-bak`))
      expect((yield* run(writeProxyFile(file, copies))).code).toBe(proxyExit.noBackup)
      expect([yield* holds(), yield* holds(join(home, "elsewhere"))]).toEqual([odd, "untouched"])
      expect(yield* names()).toHaveLength(3)
    }))

  it.scoped("is left alone when the staged copies are gone, or nothing can compare", () =>
    Effect.gen(function*() {
      const { file, holds, home, run } = yield* prepared()
      const gone = yield* run(writeProxyFile(file, buildStagedNames("other")))
      expect([gone.code, gone.stderr.trim()]).toEqual([proxyExit.unusable, "the staged copies are gone"])
      const path = join(home, "bare")
      yield* plant(path, Object.fromEntries(["sh", "awk", "rm"].map((name) => [name, { link: programOf(name) }])))
      const bare = yield* runHere(writeProxyFile(file, copies), { home, shell: { name: "bare", path } })
      expect([bare.code, bare.stderr.trim()]).toEqual([proxyExit.unusable, "cmp is not installed (diffutils)"])
      expect(yield* holds()).toBe(odd)
    }))

  it.scopedLive("waits for another edit, and reads wait too", () =>
    Effect.gen(function*() {
      const { file, holds, run } = yield* prepared()
      const holder = yield* lockedBy("-x")
      const writer = yield* Effect.fork(run(writeProxyFile(file, copies)))
      const reader = yield* Effect.fork(run(readProxyFile(file)))
      yield* Effect.sleep("400 millis")
      expect(yield* Fiber.poll(writer)).toMatchObject({ _tag: "None" })
      expect(yield* Fiber.poll(reader)).toMatchObject({ _tag: "None" })
      expect(yield* holds()).toBe(odd)
      holder.kill("SIGKILL")
      expect((yield* Fiber.join(writer)).code).toBe(0)
      expect([odd, next]).toContain((yield* Fiber.join(reader)).stdout)
    }))

  it.scopedLive("keeps its staged copies while somebody may still need them", () =>
    Effect.gen(function*() {
      const { names, run } = yield* prepared()
      const holder = yield* lockedBy("-x")
      const discarding = yield* Effect.fork(run(discardStaged(copies)))
      yield* Effect.sleep("400 millis")
      expect(yield* Fiber.poll(discarding)).toMatchObject({ _tag: "None" })
      expect(yield* names()).toEqual(expect.arrayContaining([copies.before, copies.after]))
      holder.kill("SIGKILL")
      expect((yield* Fiber.join(discarding)).code).toBe(0)
      expect((yield* names()).filter((name) => name.startsWith(".berth"))).toEqual([])
    }))

  it.scopedLive("is read beside other readers", () =>
    Effect.gen(function*() {
      const { file, run } = yield* prepared()
      yield* lockedBy("-s")
      expect((yield* run(readProxyFile(file))).stdout).toBe(odd)
    }))

  it.scoped("leaves no copies behind, not even those of a Berth that died", () =>
    Effect.gen(function*() {
      const { file, home, names, run } = yield* prepared()
      const [old, recent] = [buildStagedNames("dead"), buildStagedNames("busy")]
      yield* plant(home, {
        [old.before]: "a",
        [old.after]: "b",
        [recent.before]: "c",
        "sub/.berth-proxy-d-after": "d",
        ".berth-known": "e"
      })
      const ago = new Date(Date.now() - 3 * 24 * 3600 * 1000)
      yield* Effect.promise(() =>
        Promise.all([old.before, old.after, "sub/.berth-proxy-d-after", ".berth-known"].map((name) =>
          utimes(join(home, name), ago, ago)
        ))
      )
      expect((yield* run(writeProxyFile(file, copies))).code).toBe(0)
      expect(yield* names()).toEqual([".berth-known", recent.before, "flock", "it's $(here)", "sub"])
      expect(yield* names(join(home, "sub"))).toHaveLength(1)
      expect((yield* run(discardStaged(recent))).code).toBe(0)
      expect(yield* names()).not.toContain(recent.before)
    }))

  describe.skipIf(!takesStandIns)("when a program fails", () => {
    it.scoped.each([
      ["stops half-way", "head -c 9 >\"$1\"; echo 'tee: No space left on device' >&2; exit 1"],
      ["loses a byte and says nothing", "head -c 9 >\"$1\""],
      ["writes nothing at all", "exit 1"]
    ])("holds what it held when the writer %s", ([, writer]) =>
      Effect.gen(function*() {
        const { file, holds, home, names, run } = yield* prepared()
        // The real tee writes the copy first and restores last.
        const tee = `case $(cat "$HOME/turn" 2>/dev/null) in
          1) echo 2 >"$HOME/turn"; ${writer} ;;
          *) echo 1 >"$HOME/turn.new"; [ -e "$HOME/turn" ] || mv "$HOME/turn.new" "$HOME/turn"; cat >"$1" ;;
        esac`
        const programs = yield* standIns(home, { tee })
        expect((yield* run(writeProxyFile(file, copies), programs)).code).toBe(proxyExit.restored)
        expect([yield* holds(), yield* holds(`${file}.berth-bak`)]).toEqual([odd, odd])
        expect((yield* names()).filter((name) => name.startsWith(".berth"))).toEqual([])
      }))

    it.scoped("says so when not even the old text can be put back", () =>
      Effect.gen(function*() {
        const { file, holds, home, run } = yield* prepared()
        const tee = "case $1 in *.berth-bak) cat >\"$1\" ;; *) : >\"$1\"; exit 1 ;; esac"
        const programs = yield* standIns(home, { tee })
        expect((yield* run(writeProxyFile(file, copies), programs)).code).toBe(proxyExit.damaged)
        expect(yield* holds(`${file}.berth-bak`)).toBe(odd)
      }))

    it.scoped("is written to the end through HUP, INT, TERM and closed pipes", () =>
      Effect.gen(function*() {
        const { file, holds, home, names, run } = yield* prepared()
        const tee = "cat >\"$1\"; for signal in HUP INT TERM PIPE; do kill -s $signal $PPID; done"
        const programs = yield* standIns(home, { tee })
        expect((yield* run(writeProxyFile(file, copies), programs)).code).toBe(0)
        expect(yield* holds()).toBe(next)
        expect((yield* names()).filter((name) => name.startsWith(".berth"))).toEqual([])
      }))

    it.scoped("is left alone when somebody else keeps the lock", () =>
      Effect.gen(function*() {
        const { file, holds, home, names, run } = yield* prepared()
        yield* lockedBy("-x")
        // A clock that jumps by a minute.
        const date = "n=$(cat \"$HOME/now\" 2>/dev/null || echo 0); echo $((n + 60)) | tee \"$HOME/now\""
        const programs = yield* standIns(home, { date })
        expect((yield* run(writeProxyFile(file, copies), programs)).code).toBe(proxyExit.busy)
        expect((yield* run(readProxyFile(file), programs)).code).toBe(proxyExit.busy)
        expect(yield* holds()).toBe(odd)
        expect((yield* names()).filter((name) => name.startsWith(".berth"))).toEqual([])
      }))
  })
})
