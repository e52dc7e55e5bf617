import { Path } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Either, Layer } from "effect"
import { readPlatformFile } from "../src/pipelines/applications/platformFile.ts"
import { parseServiceDefinitions, readComposeFile } from "../src/pipelines/projects/compose.ts"
import { readContainerConfig } from "../src/pipelines/projects/files.ts"
import { listSettingsProblems, parseSettingsDocument } from "../src/services/settings/document.ts"
import { localFilesTest } from "../src/testing/LocalFilesTest.ts"
import { inheritedNames } from "./fixtures/hostile/inheritedNames.ts"
import { runCli } from "./fixtures/programs/cli.ts"

const inProject = (files: Readonly<Record<string, string>>) =>
  Layer.merge(
    localFilesTest(Object.fromEntries(Object.entries(files).map(([name, text]) => [`/p/${name}`, text]))),
    Path.layer
  )

// None of these asks a service.
const berth = (...args: ReadonlyArray<string>) => runCli({ url: "http://127.0.0.1:1" }, args)

const server = "id: a, name: Main, host: h, username: u"

describe.each(inheritedNames)("a key %s", (name) => {
  it.each([
    ["of the file", `${name}: 1\n`, name],
    ["of the file, with settings below", `${name}: { a: 1 }\n`, name],
    ["of a section", `http: { ${name}: 1 }\n`, `http.${name}`],
    ["of a section without lists", `deploy: { ${name}: [a] }\n`, `deploy.${name}`],
    ["of a server", `servers: [{ ${server}, ${name}: 1 }]\n`, `servers[0].${name}`],
    ["of a token", `http: { tokens: [{ name: a, token: b, role: viewer, ${name}: 1 }] }\n`, `http.tokens[0].${name}`]
  ])("in the settings is not one, as any other, where it stands as one %s", (_, text, setting) => {
    expect(listSettingsProblems("berth.yaml", text).map(({ message }) => message)).toEqual([
      expect.stringContaining(`berth.yaml:1: ${setting} is not a setting.`)
    ])
    expect(Either.isLeft(parseSettingsDocument("berth.yaml", text))).toBe(true)
  })

  it.effect("of container.json is not known", () =>
    Effect.gen(function*() {
      const read = readContainerConfig("/p").pipe(
        Effect.provide(inProject({ "container.json": `{"${name}": {"remotePath": "/x"}}` }))
      )
      expect((yield* Effect.flip(read)).message).toContain(
        `/p/container.json:1:${name.length + 6}: ${name} is not a known field`
      )
    }))

  it.effect("of an entry of platform.json is warned of, and one that is its name stays it", () =>
    Effect.gen(function*() {
      const entries = JSON.stringify([{ name, domain: "a.example.com" }]).replace("{", `{"${name}": {"port": 1},`)
      const read = readPlatformFile("/p").pipe(Effect.provide(inProject({ "platform.json": entries })))
      expect(yield* read).toMatchObject({
        value: [{ entry: { name }, warnings: [expect.stringContaining(`${name} is not a known field`)] }]
      })
      expect(yield* Effect.map(read, (found) => JSON.stringify(found))).not.toContain("\"port\":1,\"name\"")
    }))

  it.effect("of a compose file is a service like any other", () =>
    Effect.gen(function*() {
      const compose = `services:\n  ${name}:\n    image: ${"${IMAGE_constructor:-nginx}"}\n    ${name}: 1\n`
      const read = readComposeFile("/p").pipe(
        Effect.provide(inProject({ "compose.yml": compose, ".env": `${name}=1\n` }))
      )
      expect((yield* read).services).toEqual([{
        name,
        image: "nginx",
        builds: false,
        runs: true,
        envFiles: [],
        sources: [],
        ports: []
      }])
      expect([...parseServiceDefinitions(compose, "").keys()]).toEqual([name])
      expect(parseServiceDefinitions(compose, "").get(name)?.text).not.toBe(
        parseServiceDefinitions(compose.replace(": 1", ": 2"), "").get(name)?.text
      )
    }))

  it.effect("is a name on the command line that is not known", () =>
    Effect.gen(function*() {
      expect((yield* berth(name)).err).toMatch(`Error: berth has no command "${name}".`)
      expect((yield* berth("server", name)).err).toMatch(`Error: berth server has no command "${name}".`)
      expect((yield* berth("deploy", `--${name}`)).err).toMatch(`Error: berth deploy has no option "--${name}".`)
      expect((yield* berth("sandbox", "--vendor", name)).err).toMatch(
        `--vendor must be neutral or coolify, not "${name}"`
      )
      expect((yield* berth("completions", name)).err).toMatch(name)
      expect(yield* berth("complete", name, "")).toMatchObject({ code: 0 })
    }))
})
