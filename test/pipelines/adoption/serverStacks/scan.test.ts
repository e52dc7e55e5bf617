import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { scan } from "../../../../src/pipelines/adoption/serverStacks.ts"
import { ServerUnreachable } from "../../../../src/schema/ssh.ts"
import { settingsTest, storedServer } from "../../../../src/testing/SettingsTest.ts"
import { type SshAnswer, SshAsked, sshTest } from "../../../../src/testing/SshTest.ts"

const server = storedServer({ useSudo: true })
const what = "scanning ~/containers"

describe("scan", () => {
  it.effect("asks once, and never through sudo", () =>
    Effect.gen(function*() {
      expect(yield* scan("1")).toEqual([
        {
          name: "web",
          remotePath: "~/containers/web",
          hasComposeFile: true,
          hasEnv: false,
          hasData: true,
          tarFile: null,
          composeFileContent: "services: {}"
        }
      ])
      expect(yield* yield* SshAsked).toMatchObject([{ what, sudo: false }])
    }).pipe(Effect.provide([
      sshTest({ [what]: { stdout: "berth-scan\0web\0compose.yml\0\0yes\0\0services: {}\0" } }),
      settingsTest({}, [server])
    ])))

  it.effect("knows the server, or says so", () =>
    Effect.gen(function*() {
      expect(yield* Effect.flip(scan("2"))).toMatchObject({ _tag: "ServerNotFound", status: 404 })
    }).pipe(Effect.provide([sshTest({}), settingsTest({}, [server])])))

  const failures: ReadonlyArray<readonly [SshAnswer, string]> = [
    [
      new ServerUnreachable({ server: "Main", host: "h", port: 22, reason: "connection refused" }),
      "connection refused"
    ],
    [{ code: 2, stderr: "cannot cd to containers\n" }, "cannot cd to containers"],
    [{ code: null }, "was killed"],
    [{ stdout: "Welcome!\0" }, "\"Main\" did not answer with a list of directories"],
    [{ stdout: `berth-scan\0${"a\0\0\0\0\0\0".repeat(10_001)}` }, "wrote more than 10,000 directories"],
    [{ stdout: `berth-scan\0${"a".repeat(16 * 1024 * 1024)}` }, "wrote more than 16 MiB"]
  ]
  it.effect.each(failures)("wraps what fails: %#", ([answer, words]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(scan("1"))
      expect(error.status).toBe(500)
      expect(error.message).toMatch(/^Scan failed: /)
      expect(error.message).toContain(words)
    }).pipe(Effect.provide([sshTest({ [what]: answer }), settingsTest({}, [server])])))
})
