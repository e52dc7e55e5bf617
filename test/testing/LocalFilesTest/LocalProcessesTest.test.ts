import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Ref, TestClock } from "effect"
import { LocalProcesses } from "../../../src/services/local/LocalProcesses.ts"
import { localProcessesTest, type Started } from "../../../src/testing/LocalFilesTest.ts"

const limits = { timeout: "1 minute", maxOutput: 1000 } as const

describe("localProcessesTest", () => {
  it.effect("runs what is scripted, and nothing else", () =>
    Effect.gen(function*() {
      const started = yield* Ref.make<ReadonlyArray<Started>>([])
      const scripts = {
        pwsh: "built",
        sh: ({ args }: Started) => Effect.succeed({ exitCode: 2, output: args.join(" ") }),
        sleep: () => Effect.never
      }
      yield* Effect.gen(function*() {
        const processes = yield* LocalProcesses
        const heard = yield* Ref.make("")
        const run = (program: string) =>
          processes.run({ program, args: ["a", "b"], cwd: "/p", ...limits }, (text) => Ref.set(heard, text))
        expect(yield* run("pwsh")).toEqual({ exitCode: 0, timedOut: false, output: "built" })
        expect(yield* run("sh")).toEqual({ exitCode: 2, timedOut: false, output: "a b" })
        expect(yield* Ref.get(heard)).toBe("a b")
        expect((yield* Effect.flip(run("bash"))).program).toBe("bash")
        const hanging = yield* Effect.fork(run("sleep"))
        yield* TestClock.adjust("1 minute")
        expect((yield* Fiber.join(hanging)).timedOut).toBe(true)
        yield* processes.launch({ program: "sh", args: [] })
      }).pipe(Effect.provide(localProcessesTest(scripts, started)))
      expect((yield* Ref.get(started)).map(({ cwd, program }) => [program, cwd])).toEqual([
        ["pwsh", "/p"],
        ["sh", "/p"],
        ["sleep", "/p"],
        ["sh", undefined]
      ])
    }))
})
