import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { readdir, utimes, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { servicesLive } from "../../../src/services/ServicesLive.ts"
import { Settings } from "../../../src/services/settings/Settings.ts"
import { settingsFileWith } from "../../fixtures/programs/service.ts"

const live = (file: string) => Layer.provide(servicesLive(file), NodeContext.layer)

/** Findings about a file with this text, without the file's name. */
const findingsIn = (text: string) =>
  Effect.gen(function*() {
    const file = yield* settingsFileWith(text)
    const findings = yield* Effect.provide(Effect.flatMap(Settings, ({ findings }) => findings), live(file))
    return findings.map(({ fix, problem }) => `${problem.replace(file, "")}. ${fix}`)
  })

const correct = "Correct the value, or remove the line to have the default"

describe("the findings about a settings file", () => {
  it.scopedLive("are none where everything fits", () =>
    Effect.gen(function*() {
      expect(yield* findingsIn("platform: { url: 'http://p.test', token: t }\n")).toEqual([])
      expect(yield* findingsIn("")).toEqual([])
    }))

  it.scopedLive("are all that does not fit, each with its line and what to do", () =>
    Effect.gen(function*() {
      expect(yield* findingsIn("build:\n  timeout: 30\n  shel: [bash]\nhttp:\n  hosts: a\n")).toEqual([
        `:2: build.timeout must have a unit: write "30 seconds". ${correct}`,
        ":3: build.shel is not a setting. Did you mean \"shell\"? Known settings: shell, timeout. " +
        "Rename it, or remove the line",
        `:5: http.hosts must be a list of strings. ${correct}`
      ])
    }))

  it.scopedLive("are everything that leads nowhere, or lacks a companion", () =>
    Effect.gen(function*() {
      const reference = "${env:NOT_SET_ANYWHERE}"
      const server = `servers:\n  - { id: a, name: a, host: h, username: u, password: "${reference}" }\n`
      const set = "Set what it names before the service needs it, or write the value in its place"
      const unset = "cannot be resolved: the environment variable NOT_SET_ANYWHERE is not set"
      expect(yield* findingsIn(`token: "${reference}"\nplatform:\n  url: http://p.test\n${server}`)).toEqual([
        `:1: token ${unset}. ${set}`,
        `:5: servers[0].password ${unset}. ${set}`,
        ":3: platform.url is set, but platform.token is not. Add platform.token, which the calls to it need too"
      ])
    }))

  it.scopedLive("are every field of each server that leads nowhere, on its own line", () =>
    Effect.gen(function*() {
      const field = (name: string) => `    ${name}: "\${env:NO_${name.toUpperCase()}}"\n`
      const server = (id: string, ...names: ReadonlyArray<string>) =>
        `  - id: ${id}\n    name: ${id}\n    username: u\n${names.map(field).join("")}`
      const text = `servers:\n${server("a", "host", "port", "password")}${server("b", "host", "privateKey")}`
      const found = yield* findingsIn(text)
      expect(found.map((finding) => finding.split(". ")[0])).toEqual([
        ":5: servers[0].host cannot be resolved: the environment variable NO_HOST is not set",
        ":6: servers[0].port cannot be resolved: the environment variable NO_PORT is not set",
        ":7: servers[0].password cannot be resolved: the environment variable NO_PASSWORD is not set",
        ":11: servers[1].host cannot be resolved: the environment variable NO_HOST is not set",
        ":12: servers[1].privateKey cannot be resolved: the environment variable NO_PRIVATEKEY is not set"
      ])
    }))

  it.scopedLive("are one where the file cannot be read as YAML", () =>
    Effect.gen(function*() {
      const [only, ...others] = yield* findingsIn("a: [\n")
      expect(only).toMatch(/^:\d+:\d+: is not valid YAML: .*\. Nothing of the file is in use until this is mended$/)
      expect(others).toEqual([])
    }))
})

describe("a start", () => {
  it.scopedLive("clears away what a killed save has left beside the settings, and nothing else", () =>
    Effect.gen(function*() {
      const file = yield* settingsFileWith("")
      const left = ".berth-0123456789abcdef.tmp"
      const underWay = ".berth-fedcba9876543210.tmp"
      const others = [".berth-mine.tmp", "notes.tmp"]
      yield* Effect.promise(async () => {
        for (const name of [left, underWay, ...others]) await writeFile(join(dirname(file), name), "x")
        for (const name of [left, ...others]) await utimes(join(dirname(file), name), 0, 0)
      })
      yield* Effect.provide(Effect.void, live(file))
      expect(yield* Effect.promise(() => readdir(dirname(file)))).toEqual(
        expect.arrayContaining([underWay, ...others, "berth.yaml"])
      )
      expect(yield* Effect.promise(() => readdir(dirname(file)))).not.toContain(left)
    }))
})

describe("the findings about tokens", () => {
  const long = "0123456789abcdef"

  it.scopedLive("are that one is short, unknown, or somebody else's too", () =>
    Effect.gen(function*() {
      const reference = "${env:NOT_SET_ANYWHERE}"
      const tokens = (one: string, other: string) =>
        `http:\n  token: ${one}\n  tokens:\n    - { name: ann, token: "${other}", role: viewer }\n`
      const longer = "Make a longer one: openssl rand -hex 32"
      expect(yield* findingsIn(tokens(long, `${long}!`))).toEqual([])
      expect(yield* findingsIn(tokens("short", "shorter"))).toEqual([
        `:2: http.token has fewer than 16 characters, and can be guessed. ${longer}`,
        `:4: http.tokens[0].token has fewer than 16 characters, and can be guessed. ${longer}`
      ])
      expect(yield* findingsIn(tokens(long, reference))).toEqual([
        expect.stringContaining("http.tokens[0].token cannot be resolved")
      ])
      expect(yield* findingsIn(tokens(long, long))).toEqual([
        expect.stringMatching(/^:4: http\.tokens contains two tokens with the same token, http\.token included\. /)
      ])
    }))
})
