import { describe, expect, it } from "@effect/vitest"
import { Chunk, Effect, Redacted, Stream } from "effect"
import { followLogs, type LogsQuery } from "../../../../src/pipelines/servers/logs.ts"
import { settingsTest, storedServer } from "../../../../src/testing/SettingsTest.ts"
import { SshAsked, sshTest } from "../../../../src/testing/SshTest.ts"

const line = (second: number, text: string) => `o|web|2026-01-02T03:04:${String(second).padStart(2, "0")}.5Z ${text}\n`

const followed = (query: LogsQuery) =>
  Effect.scoped(Effect.flatMap(followLogs("1", query), Stream.runCollect)).pipe(
    Effect.map((events) =>
      Chunk.toReadonlyArray(events).map((event) => event.event === "line" ? event.data.text : event.event)
    )
  )

const settings = settingsTest({}, [storedServer({ credentials: { password: Redacted.make("pass-word/1") } })])
const answering = (stdout: string) => sshTest({ "following the logs of ~/containers/app": { stdout } })

describe("followLogs", () => {
  it.effect("begins with as many lines as are wanted of those whose shown text fits, and goes on with such lines", () =>
    Effect.gen(function*() {
      const asked = { remotePath: "~/containers/app", lines: "2", contains: "WORD" }
      expect(yield* followed(asked)).toEqual(["word two", "Word three", "a word live"])
      expect((yield* yield* SshAsked)[0]?.args).toEqual(
        ["stack", "~/containers/app", "2", "", "", "", "WORD", "10485760"]
      )
    }).pipe(Effect.provide([
      answering([
        "following\n",
        line(1, "word one"),
        line(2, "word two"),
        line(3, "log in with pass-word/1"),
        line(4, "Word three"),
        "live\n",
        line(5, "log in with pass-word/1"),
        line(6, "nothing"),
        line(7, "a word live")
      ].join("")),
      settings
    ])))

  it.effect("ends at its time, and says so", () =>
    Effect.gen(function*() {
      const asked = { remotePath: "~/containers/app" }
      expect(yield* followed({ ...asked, until: "1h" })).toEqual(["one", "end"])
      expect(yield* followed({ ...asked, until: "2026-01-02T03:04:01Z" })).toEqual(["one", "end"])
    }).pipe(Effect.provide([answering(`following\n${line(0, "one")}`), settings])))

  it.effect("keeps no more than 10,000 lines of a server that never comes to an end of them", () =>
    Effect.gen(function*() {
      const seen = yield* followed({ remotePath: "~/containers/app", lines: "1" })
      expect(seen[0]).toBe("line 9999")
    }).pipe(Effect.provide([
      answering(`following\n${Array.from({ length: 10_500 }, (_, at) => line(at % 60, `line ${at}`)).join("")}`),
      settings
    ])))
})
