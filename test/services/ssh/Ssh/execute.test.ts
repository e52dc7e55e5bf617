import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { execute } from "../../../../src/services/ssh/Ssh.ts"
import { storedServer } from "../../../../src/testing/SettingsTest.ts"
import { type SshReply, sshTest } from "../../../../src/testing/SshTest.ts"

const command = { what: "trying", script: "false", args: [], sudo: false }
const server = storedServer({
  credentials: { password: Redacted.make("pass-word"), sudoPassword: Redacted.make("sudo-word") }
})
const wordsOf = (reply: SshReply) =>
  execute(server, command).pipe(Effect.flip, Effect.provide(sshTest({ trying: { code: 1, ...reply } })))

describe("a command that fails", () => {
  it.effect("says what the server said, on whatever stream", () =>
    Effect.gen(function*() {
      expect(yield* wordsOf({ stdout: "out", stderr: " err\n" })).toMatchObject({ code: 1, words: "err" })
      expect(yield* wordsOf({ stdout: "out\n", stderr: "\n" })).toMatchObject({ words: "out" })
    }))

  it.effect("shows no password that the server repeats, nor the end of one that is cut", () =>
    Effect.gen(function*() {
      expect(yield* wordsOf({ stderr: "not pass-word, and not sudo-word" })).toMatchObject({
        words: "not ***, and not ***"
      })
      const cut = yield* wordsOf({ stderr: `pass-word${"x".repeat(1_996)}` })
      expect(cut.message).not.toContain("word")
    }))
})
