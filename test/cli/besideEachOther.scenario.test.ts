import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Schedule } from "effect"
import { existsSync } from "node:fs"
import { mkdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { spawnBerth } from "../fixtures/berthProcess.ts"
import { compiled } from "../fixtures/compiled.ts"
import { patience } from "../fixtures/patience.ts"
import { settingsFileWith } from "../fixtures/programs/service.ts"
import { hasTerminal, type OnTerminal, onTerminal, screenOf } from "../fixtures/programs/terminal.ts"
import { inPart } from "../fixtures/thorough.ts"

/** A directory with projects whose builds last until they are let go, and no service. */
const scene = Effect.gen(function*() {
  const settingsFile = yield* settingsFileWith("projects: { root: . }\nbuild: { shell: [sh] }\n")
  const root = dirname(settingsFile)
  const project = (name: string) =>
    Effect.promise(async () => {
      await mkdir(join(root, name))
      await writeFile(join(root, name, "Dockerfile"), "FROM scratch\n")
      await writeFile(
        join(root, name, "build-image-tar.sh"),
        `touch '${root}/${name}.begun'; until [ -e '${root}/${name}.end' ]; do sleep 0.05; done\ntouch image.tar\n`
      )
    })
  yield* Effect.forEach(["one", "two", "three"], project)
  const env = { BERTH_CONFIG: settingsFile, BERTH_URL: "", HOME: root }
  return {
    env,
    berth: (...args: ReadonlyArray<string>) => spawnBerth(env, [compiled("src/cli/berth.ts"), ...args]),
    begun: (name: string) => until(() => existsSync(join(root, `${name}.begun`))),
    letGo: (name: string) => Effect.promise(() => writeFile(join(root, `${name}.end`), ""))
  }
})

const until = (is: () => boolean) =>
  Effect.repeat(Effect.sync(is), { until: (done) => done, schedule: Schedule.spaced("50 millis") }).pipe(
    Effect.timeoutFail({ duration: Duration.seconds(20 * patience), onTimeout: () => new Error("It never happened") }),
    Effect.orDie
  )

const ctrlC = "\u0003"
const idIn = (output: string) => /\b01[0-9a-z]{24}\b/.exec(output)?.[0] ?? ""

// Each has a store of its own, and mostly waits.
const together = { concurrent: true }

describe.skipIf(process.platform === "win32")("commands beside each other, without a service", together, () => {
  it.scopedLive(
    "list, show, follow and cancel the run of another terminal while it lasts",
    () =>
      Effect.gen(function*() {
        const { begun, berth } = yield* scene
        const build = yield* berth("build", "one")
        yield* begun("one")
        const listing = yield* berth("runs")
        expect((yield* Effect.timed(listing.ended))[1]).toEqual({ code: 0, signal: null })
        expect(listing.output()).toMatch(/build +one +running/)
        const id = idIn(listing.output())
        const shown = yield* berth("runs", id)
        expect(yield* shown.ended).toEqual({ code: 0, signal: null })
        expect(shown.output()).toContain("build of one: running")
        const following = yield* berth("runs", id, "-f")
        const cancelled = yield* berth("cancel", id)
        expect(yield* cancelled.ended).toEqual({ code: 0, signal: null })
        expect(cancelled.output()).toMatch(/is cancelled|next safe point/)
        expect(yield* build.ended).toMatchObject({ code: 1 })
        expect(build.output()).toContain("cancelled")
        expect(yield* following.ended).toMatchObject({ code: 1 })
        expect(following.output()).toContain("cancelled")
        const after = yield* berth("runs")
        expect(yield* after.ended).toEqual({ code: 0, signal: null })
        expect(after.output()).toMatch(/build +one +cancelled/)
      }),
    90_000 * patience
  )

  it.scopedLive.each(inPart([1, 20, 70], [1]))(
    "begin one after the other when one lasts %i s, each as soon as the one before has ended",
    (seconds) =>
      Effect.gen(function*() {
        const { begun, berth, letGo } = yield* scene
        const one = yield* berth("build", "one")
        yield* begun("one")
        const two = yield* berth("build", "two")
        const listing = yield* berth("runs")
        expect(yield* listing.ended).toEqual({ code: 0, signal: null })
        yield* Effect.sleep(Duration.seconds(seconds))
        const three = yield* berth("build", "three")
        yield* Effect.forEach(["one", "two", "three"], letGo)
        const [elapsed, ends] = yield* Effect.timed(Effect.all([one.ended, two.ended, three.ended]))
        expect(ends.map(({ code }) => code), [one, two, three].map(({ output }) => output()).join("\n"))
          .toEqual([0, 0, 0])
        expect(Duration.toSeconds(elapsed)).toBeLessThan(30 * patience)
        expect(two.output()).toMatch(/Waiting for another berth: build of one, process \d+/)
      }),
    150_000 * patience
  )

  it.scopedLive.each(
    inPart([1, 20].flatMap((seconds) => [[seconds, "SIGINT"], [seconds, "SIGTERM"]] as const), [[1, "SIGINT"]])
  )(
    "leave after waiting %i s for another one at once with %s, and have begun nothing",
    ([seconds, signal]) =>
      Effect.gen(function*() {
        const { begun, berth, letGo } = yield* scene
        const one = yield* berth("build", "one")
        yield* begun("one")
        const two = yield* berth("build", "two")
        yield* until(() => two.output().includes("Waiting for another berth"))
        yield* Effect.sleep(Duration.seconds(seconds))
        yield* two.kill(signal)
        const [elapsed, end] = yield* Effect.timed(two.ended)
        expect(end).toEqual({ code: 130, signal: null })
        expect(Duration.toSeconds(elapsed)).toBeLessThan(5 * patience)
        yield* letGo("one")
        expect(yield* one.ended).toMatchObject({ code: 0 })
        const after = yield* berth("runs")
        yield* after.ended
        expect(after.output()).not.toContain("build of two")
      }),
    90_000 * patience
  )

  it.scopedLive.skipIf(!hasTerminal)(
    "ask with a second Ctrl-C whether to cancel what is waited for",
    () =>
      Effect.gen(function*() {
        const { begun, env } = yield* scene
        const terminal = yield* onTerminal(["build", "one"], { columns: 200, env })
        yield* begun("one")
        yield* terminal.type(ctrlC)
        yield* terminal.until(/Ctrl-C once more asks whether to cancel it/)
        yield* terminal.type(ctrlC)
        yield* terminal.until(/Cancel the build of one\? \[y\/N\]/)
        yield* terminal.type("n\n")
        yield* terminal.until(/continues; waiting until it has ended\r/)
        yield* terminal.type(ctrlC)
        yield* terminal.until(/one\? \[y\/N\][^]*one\? \[y\/N\]/)
        yield* terminal.type("y\n")
        expect(yield* terminal.ended).toBe(130)
        expect(terminal.output()).toContain("The build of one was cancelled")
      }),
    90_000 * patience
  )

  it.scopedLive.each(hasTerminal ? inPart([1, 20, 70], [1]) : [])(
    "show whole lines on three terminals, of which one follows, one cancels and one waits %i s",
    (seconds) =>
      Effect.gen(function*() {
        const { begun, env, letGo } = yield* scene
        const columns = 100
        const open = (...args: ReadonlyArray<string>) => onTerminal(args, { columns, env })
        // A busy machine answers late, and says so.
        const shownBy = ({ output }: OnTerminal) =>
          screenOf(output()).filter((line) =>
            !/^! (?:At work|Waiting for the service at .*), since [\d:]{8} |: waiting for its turn$/.test(line)
          )
        const first = yield* open("build", "one")
        yield* begun("one")

        const listing = yield* open("runs")
        expect(yield* listing.ended).toBe(0)
        const id = idIn(listing.output())
        const left = yield* open("runs", id, "-f")
        yield* left.until(/ build\r/)
        yield* left.type(ctrlC)
        expect(yield* left.ended).toBe(130)
        expect(shownBy(left)).toEqual([
          "The build of one continues.",
          `  Follow it with: berth runs ${id} -f`,
          `  Cancel it with: berth cancel ${id}`,
          ""
        ])
        const following = yield* open("runs", id, "-f")
        yield* following.until(/ build\r/)

        const waiting = yield* open("build", "two")
        const leaving = yield* open("build", "three")
        yield* leaving.until(/Waiting for another berth/)
        yield* leaving.type(ctrlC)
        expect(yield* leaving.ended).toBe(130)
        expect(shownBy(leaving)).toEqual([
          expect.stringMatching(
            /^! Waiting for another berth: build of one, process \d+, since [\d:]{8} \(Ctrl-C ends it\)$/
          ),
          "It was not started: nothing was changed.",
          ""
        ])
        yield* Effect.sleep(Duration.seconds(seconds))
        yield* letGo("two")
        const cancel = yield* open("cancel", id)
        expect(yield* cancel.ended).toBe(0)
        expect([yield* first.ended, yield* following.ended, yield* waiting.ended]).toEqual([1, 1, 0])
        expect(shownBy(first)).toEqual([
          expect.stringMatching(/^✗ build(?: \([\d.]+ (?:s|min).*\))?$/),
          expect.stringMatching(/^Error: .*cancelled/),
          "  incomplete: build again",
          ""
        ])
        expect(shownBy(waiting)).toEqual([
          expect.stringMatching(
            /^! Waiting for another berth: build of one, process \d+, since [\d:]{8} \(Ctrl-C ends it\)$/
          ),
          expect.stringMatching(/^✓ build: /),
          "Built image.tar.",
          ""
        ])
        for (const terminal of [listing, left, following, leaving, cancel, first, waiting]) {
          expect(terminal.output()).not.toContain("\u001b[?25l")
          expect(shownBy(terminal).filter((line) => line.length > columns)).toEqual([])
        }
      }),
    150_000 * patience
  )
})
