import { Path } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, Redacted, Ref, TestClock } from "effect"
import type { DeclaredSecret } from "../../../../src/pipelines/secrets/declaredSecrets.ts"
import {
  findSecretMemory,
  keepForPlan,
  resolveSecrets,
  shareSecrets
} from "../../../../src/pipelines/secrets/deploySecrets.ts"
import { scrubSecrets } from "../../../../src/services/settings/Settings.ts"
import {
  localFilesTest,
  localProcessesTest,
  type Script,
  type Started
} from "../../../../src/testing/LocalFilesTest.ts"
import { settingsTest } from "../../../../src/testing/SettingsTest.ts"

const secret = (
  name: string,
  command: readonly [string, ...ReadonlyArray<string>],
  as: DeclaredSecret["as"] = "variable"
) => ({ name, from: { kind: "command", command }, as, services: [], isNeeded: true }) satisfies DeclaredSecret

const world = (scripts: Readonly<Record<string, Script>>, started?: Ref.Ref<ReadonlyArray<Started>>) =>
  Layer.mergeAll(
    localProcessesTest(scripts, started),
    localFilesTest(),
    Path.layer,
    settingsTest({ "secrets.timeout": Duration.seconds(5) })
  )

const resolve = (...secrets: ReadonlyArray<DeclaredSecret>) =>
  Effect.flatMap(findSecretMemory(undefined), (memory) => resolveSecrets("/srv/shop", secrets, memory)).pipe(
    Effect.map((values) =>
      Object.fromEntries([...values].map(([name, value]) => [name, new TextDecoder().decode(Redacted.value(value))]))
    )
  )

describe("secrets from commands", () => {
  it.effect("are what the program prints, without exactly one line break", () =>
    Effect.gen(function*() {
      const outputs = { plain: "one", line: "two\n", lines: "three\n\n", windows: "four\r\n", inner: "a\nb\n" }
      const secrets = Object.keys(outputs).map((name) => secret(name.toUpperCase(), [name]))
      expect(yield* Effect.provide(resolve(...secrets), world(outputs))).toEqual({
        PLAIN: "one",
        LINE: "two",
        LINES: "three\n",
        WINDOWS: "four",
        INNER: "a\nb"
      })
    }))

  it.effect("are resolved once, equal commands together, in the project's directory", () =>
    Effect.gen(function*() {
      const started = yield* Ref.make<ReadonlyArray<Started>>([])
      const secrets = [
        secret("A", ["op", "read", "x"]),
        secret("B", ["op", "read", "x"]),
        secret("C", ["op", "read", "y"])
      ]
      yield* Effect.gen(function*() {
        const memory = yield* findSecretMemory(undefined)
        yield* resolveSecrets("/srv/shop", secrets, memory)
        yield* resolveSecrets("/srv/shop", secrets, memory)
        expect(yield* Ref.get(started)).toEqual([
          { program: "op", args: ["read", "x"], cwd: "/srv/shop" },
          { program: "op", args: ["read", "y"], cwd: "/srv/shop" }
        ])
        // The deploy of a plan uses what the plan has resolved, for a while.
        yield* keepForPlan("hash", memory)
        yield* resolveSecrets("/srv/shop", secrets, yield* findSecretMemory("hash"))
        expect(yield* Ref.get(started)).toHaveLength(2)
        yield* TestClock.adjust("16 minutes")
        yield* resolveSecrets("/srv/shop", secrets, yield* findSecretMemory("hash"))
        expect(yield* Ref.get(started)).toHaveLength(4)
        yield* shareSecrets(Effect.zipRight(resolve(...secrets), resolve(...secrets)))
        expect(yield* Ref.get(started)).toHaveLength(6)
      }).pipe(Effect.provide(world({ op: "value" }, started)))
    }))

  it.effect.each(
    [
      ["an empty output", "\n", "op ended well and printed nothing: an empty secret is not deployed"],
      [
        "an exit code",
        () => Effect.succeed({ exitCode: 6, output: "vault is sealed\n" }),
        "op ended with exit code 6: vault is sealed"
      ],
      ["a signal", () => Effect.succeed({ exitCode: null }), "op was ended by a signal"],
      ["a NUL", "a\0b", "its value contains a NUL character"]
    ] as const
  )("are refused for %s", ([, script, reason]) =>
    Effect.gen(function*() {
      const refused = yield* Effect.flip(Effect.provide(resolve(secret("KEY", ["op"])), world({ op: script })))
      expect(refused.message).toBe(`Secrets could not be resolved: KEY: ${reason}. Nothing was changed`)
    }))

  it.effect("are refused after a minute without an answer, and for a program that is not there", () =>
    Effect.gen(function*() {
      const refusal = yield* Effect.fork(
        Effect.flip(
          Effect.provide(
            resolve(secret("SLOW", ["op"]), secret("GONE", ["bw", "get"])),
            world({ op: () => Effect.never })
          )
        )
      )
      yield* TestClock.adjust("6 seconds")
      const { message } = yield* Fiber.join(refusal)
      expect(message).toContain("SLOW: op did not end within 5s (secrets.timeout in the settings) and was stopped")
      expect(message).toMatch(/GONE: Cannot run bw: it is not installed, on \S+@\S+/)
    }))

  it.effect("are known to the scrubber, also line by line, and bytes that are no text can be files", () =>
    Effect.gen(function*() {
      expect(yield* resolve(secret("A", ["op"]), secret("B", ["bw"], "file"))).toMatchObject({ A: "planted-value" })
      expect(yield* scrubSecrets("got planted-value and planted-line-of-a-key")).toBe("got *** and ***")
    }).pipe(
      Effect.provide(
        world({ op: "planted-value\n", bw: "-----BEGIN KEY-----\nplanted-line-of-a-key\n-----END KEY-----\n" })
      )
    ))
})
