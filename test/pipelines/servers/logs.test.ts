import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { logs } from "../../../src/pipelines/servers/logs.ts"
import { describeDockerRefusal, listContainers } from "../../../src/pipelines/servers/servers.ts"
import { ServerUnreachable } from "../../../src/schema/ssh.ts"
import { settingsTest, storedServer } from "../../../src/testing/SettingsTest.ts"
import { SshAsked, sshTest } from "../../../src/testing/SshTest.ts"

const server = storedServer({ useSudo: true })
const settings = settingsTest({}, [server])
const ofWeb = "reading the logs of web"
const ofStack = "reading the logs of ~/containers/app"

describe("logs", () => {
  it.effect("takes 100 lines of the container through sudo where the server says so", () =>
    Effect.gen(function*() {
      expect(yield* logs("1", { containerName: "web" })).toBe("one\n")
      expect(yield* yield* SshAsked).toMatchObject([{
        what: ofWeb,
        args: ["web", "100", "", "no", "", ""],
        sudo: true
      }])
    }).pipe(Effect.provide([sshTest({ [ofWeb]: { stdout: "one\n" } }), settings])))

  it.effect("shows no password that the log repeats", () =>
    Effect.gen(function*() {
      expect(yield* logs("1", { containerName: "web" })).toBe("log in with ***, ***\n")
    }).pipe(Effect.provide([
      sshTest({ [ofWeb]: { stdout: "log in with pass-word/1, pass-word%2F1\n" } }),
      settingsTest({}, [storedServer({ credentials: { password: Redacted.make("pass-word/1") } })])
    ])))

  it.effect("keeps the last lines whose text contains what is wanted, judged after secrets are redacted", () =>
    Effect.gen(function*() {
      const asked = { remotePath: "~/containers/app", lines: "2", until: "1h", contains: "WEB" }
      expect(yield* logs("1", asked)).toBe("db | the Web two\nweb | the web three\n")
      expect(yield* logs("1", { ...asked, contains: "pass-word" })).toBe("")
      expect(yield* logs("1", { ...asked, contains: "none" })).toBe("")
      expect((yield* yield* SshAsked)[0]).toMatchObject({
        args: ["~/containers/app", "2", "10485760", "", "no", "", "-3600", "WEB"]
      })
    }).pipe(Effect.provide([
      sshTest({
        [ofStack]: {
          stdout:
            "db | the web one\nweb | nothing\ndb | the Web two\nweb | the web three\ndb | log in with pass-word/1\n"
        }
      }),
      settingsTest({}, [storedServer({ credentials: { password: Redacted.make("pass-word/1") } })])
    ])))

  it.effect("prefers the stack to the container", () =>
    Effect.gen(function*() {
      yield* logs("1", { containerName: "not a name", remotePath: "~/containers//app/", lines: "7" })
      expect(yield* yield* SshAsked).toMatchObject([{
        what: ofStack,
        args: ["~/containers/app", "7", "10485760", "", "no", "", "", ""]
      }])
    }).pipe(Effect.provide([sshTest({ [ofStack]: {} }), settings])))

  it.effect("wants one of both; empty is absent", () =>
    Effect.gen(function*() {
      for (const query of [{}, { containerName: "", remotePath: "" }]) {
        const error = yield* Effect.flip(logs("1", query))
        expect(error).toMatchObject({
          status: 500,
          message: "Failed to get logs: containerName or remotePath required"
        })
      }
    }).pipe(Effect.provide([sshTest({}), settings])))

  it.effect.each(
    [
      [{ containerName: "-f" }, "containerName"],
      [{ containerName: "web; id" }, "containerName"],
      [{ containerName: "a\nb" }, "containerName"],
      [{ containerName: "a".repeat(300) }, "containerName"],
      [{ containerName: "web", lines: "0" }, "lines"],
      [{ containerName: "web", lines: "10001" }, "lines"],
      [{ containerName: "web", lines: "-5" }, "lines"],
      [{ containerName: "web", lines: "1.5" }, "lines"],
      [{ containerName: "web", lines: "all" }, "lines"],
      [{ containerName: "web", lines: "1e3" }, "lines"],
      [{ remotePath: "relative" }, "remotePath"],
      [{ remotePath: "/a/../b" }, "remotePath"],
      [{ remotePath: "/a\nb" }, "remotePath"],
      [{ remotePath: "/a", service: "$(x)" }, "service"],
      [{ remotePath: "/a", until: "soon" }, "until"],
      [{ remotePath: "/a", contains: "a\nb" }, "contains"],
      [{ remotePath: "/a", contains: "a".repeat(201) }, "contains"],
      [{ containerName: "web", service: "web" }, "service"]
    ] as const
  )("turns down %j and names the field", ([query, field]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(logs("1", query))
      expect(error.status).toBe(400)
      expect(error.message).toMatch(new RegExp(`^${field} (must|belongs to remotePath)`))
      expect(error.message).not.toContain("undefined")
    }).pipe(Effect.provide([sshTest({}), settings])))

  it.effect("looks for the server first", () =>
    Effect.gen(function*() {
      expect((yield* Effect.flip(logs("2", { lines: "x" }))).status).toBe(404)
      expect((yield* Effect.flip(logs("2", {}))).status).toBe(404)
      expect((yield* Effect.flip(listContainers("2"))).status).toBe(404)
    }).pipe(Effect.provide([sshTest({}), settings])))

  it.effect.each(
    [
      { code: 66 },
      { code: 14, stderr: "no configuration file provided: not found\n" },
      { code: 1, stderr: "ERROR: \n  Can't find a suitable configuration file in this directory or any\n  parent." }
    ] as const
  )("says that there is no stack, and where to look (%j)", (answer) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(logs("1", { remotePath: "~/containers/app" }))
      expect(error).toMatchObject({
        status: 500,
        message:
          "Failed to get logs: there is no stack at ~/containers/app on \"Main\": a scan of the server lists what is deployed there"
      })
    }).pipe(Effect.provide([sshTest({ [ofStack]: answer }), settings])))

  it.effect("wraps what fails", () =>
    Effect.gen(function*() {
      const missing = yield* Effect.flip(logs("1", { containerName: "web" }))
      expect(missing).toMatchObject({
        status: 500,
        message: "Failed to get logs: Error: No such container: web"
      })
      const unreachable = yield* Effect.flip(listContainers("1"))
      expect(unreachable.status).toBe(500)
      expect(unreachable.message).toMatch(/^Failed to get containers: Cannot reach server "Main"/)
    }).pipe(Effect.provide([
      sshTest({
        [ofWeb]: { code: 1, stdout: "Error: No such container: web\n" },
        "listing containers": new ServerUnreachable({ server: "Main", host: "h", port: 22, reason: "refused" })
      }),
      settings
    ])))
})

describe("describeDockerRefusal", () => {
  const help = (words: string) => describeDockerRefusal(words, { username: "deployer" })
  it("says what to do where that is known", () => {
    expect(help("permission denied while trying to connect to the Docker daemon socket"))
      .toMatch(/Add deployer to the group docker, or set useSudo for this server$/)
    expect(help("sh: 1: docker: not found")).toMatch(/^Docker is not installed/)
    expect(help("bash: line 1: docker: command not found")).toMatch(/^Docker is not installed/)
    expect(help("cd: /srv: Permission denied")).toBe("cd: /srv: Permission denied")
    expect(help("")).toBe("Docker did not say why")
  })
})
