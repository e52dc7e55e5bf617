import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import { shouldCompress } from "../../../../src/pipelines/archive/transfer.ts"
import { RemoteTimeout } from "../../../../src/schema/ssh.ts"
import { localFilesTest } from "../../../../src/testing/LocalFilesTest.ts"
import { type SshAnswer, SshAsked, sshTest } from "../../../../src/testing/SshTest.ts"

const server = { id: "1", name: "Main", host: "10.0.0.1", port: 22, username: "u", useSudo: false, credentials: {} }
const text = Buffer.alloc(9_000_000, "text ")
const file = { name: "shop.tar", path: "/p/shop.tar", size: text.length, mode: "644" as const }

/** A line that takes these milliseconds for a command, and carries as many bytes in each further one. */
const line = (commandMillis: number, bytesPerMilli: number): SshAnswer => ({ input }) =>
  Effect.as(TestClock.adjust(Math.round(commandMillis + input.length / bytesPerMilli)), {})
const late: SshAnswer = () =>
  new RemoteTimeout({ server: "Main", host: "h", port: 22, what: "measuring the line", seconds: 5 })

const asked = (answer: SshAnswer | ReadonlyArray<SshAnswer>, content: Uint8Array = text) =>
  Effect.gen(function*() {
    const saves = yield* shouldCompress(server, { kind: "whole" }, { ...file, size: content.length })
    return { saves, bytes: (yield* yield* SshAsked).map(({ input }) => input.length) }
  }).pipe(
    Effect.provide(Layer.mergeAll(sshTest({ "measuring the line": answer }), localFilesTest({ [file.path]: content })))
  )

describe("shouldCompress", () => {
  it.effect.each(
    [
      ["a slow line", line(1, 10_000), true],
      ["a fast line", line(1, 100_000), false],
      ["a fast line to a server that takes half a second for a command", line(500, 100_000), false],
      ["a slow line to a server that takes half a second for a command", line(500, 10_000), true],
      ["a fast line that is busy for a moment", [line(1, 100_000), line(1, 1_000), line(1, 100_000)], false],
      ["a line that carries no MiB within five seconds", [line(1, 100), late, line(1, 100), late], true],
      ["a line that breaks", [line(1, 100_000), { code: 1 }], false]
    ] as const
  )("goes by the time for the bytes alone: %s", ([, answer, expected]) =>
    Effect.gen(function*() {
      expect((yield* asked(answer)).saves).toBe(expected)
    }))

  it.effect("measures with at most 2 MiB, and nothing where compression makes no difference", () =>
    Effect.gen(function*() {
      expect((yield* asked(line(1, 10_000))).bytes).toEqual([1, 1_048_576, 1, 1_048_576])
      expect((yield* asked(line(1, 100_000))).bytes).toEqual([1, 1_048_576])
      expect((yield* asked(line(1, 10_000), text.subarray(0, 7_000_000))).bytes).toEqual([])
    }))
})
