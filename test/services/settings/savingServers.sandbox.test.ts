import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Ref } from "effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { parse } from "yaml"
import type { ServerInput } from "../../../src/schema/servers.ts"
import { LocalFiles } from "../../../src/services/local/LocalFiles.ts"
import { SettingsLive } from "../../../src/services/settings/SettingsLive.ts"
import { compiled } from "../../fixtures/compiled.ts"
import { patience } from "../../fixtures/patience.ts"
import { localSettings, settingsIn, settingsWorkshop, withEnv } from "../../fixtures/settingsIn.ts"
import { inPart, slow } from "../../fixtures/thorough.ts"

const many = inPart(50, 16)
const windows = process.platform === "win32"

const input = (values: Partial<ServerInput> = {}): ServerInput => ({
  name: "Main",
  host: "10.0.0.1",
  username: "deployer",
  ...values
})
const secret = (text: string) => Redacted.make(text)

const stored = `# mine
servers:
  # the first
  - id: "1"
    name: Main
    host: \${env:MAIN_HOST}
    port: 2222
    username: deployer
    password: \${env:MAIN_PASSWORD}  # from the vault
    passphrase: p
    privateKey: ~/.ssh/id
    agent: true
    useSudo: true
  - id: "2"
    name: Other
    host: b
    username: u
`
const env = withEnv({ MAIN_HOST: "10.0.0.1", MAIN_PASSWORD: "pw" })
const unmoved = { id: "1", host: "10.0.0.1", port: 2222, username: "deployer", useSudo: true }

describe("saving servers", () => {
  layer(localSettings)("in the settings file", (it) => {
    it.scoped("creates the file and its directory, private", () =>
      Effect.gen(function*() {
        const { directory, fs, path } = yield* settingsWorkshop()
        const file = path.join(directory, "a", "b", "berth.yaml")
        const settings = yield* settingsIn(SettingsLive(file))
        const server = yield* settings.saveServer(input({ id: "mine", password: secret("p: w"), sudoPassword: null }))
        expect(server).toEqual({ ...unmoved, id: server.id, name: "Main", port: 22, useSudo: false })
        expect(yield* fs.readFileString(file)).toBe(
          `servers:\n  - id: "${server.id}"\n    name: Main\n    host: 10.0.0.1\n    port: 22\n    username: deployer\n` +
            "    password: \"p: w\"\n    useSudo: false\n"
        )
        expect(yield* settings.servers).toEqual([server])
        expect(yield* fs.readDirectory(path.dirname(file))).toEqual(["berth.yaml"])
        if (!windows) expect((yield* fs.stat(file)).mode & 0o777).toBe(0o600)
      }))

    it.scoped("gives every new server an id of its own, the time in milliseconds or the next", () =>
      Effect.gen(function*() {
        const { settings } = yield* settingsWorkshop("servers: [{ id: 1, name: a, host: b, username: c }]\n")
        const ids = yield* Effect.forEach(
          ["", "9", "x", null, undefined],
          (id) => Effect.map(settings.saveServer(id === undefined ? input() : input({ id })), (server) => server.id)
        )
        expect(new Set(ids).size).toBe(5)
        expect(ids.every((id) => /^\d+$/.test(id))).toBe(true)
        expect(ids).not.toContain("1")
        yield* settings.removeServer(ids[4] ?? "")
        expect(ids).not.toContain((yield* settings.saveServer(input())).id)
      }))

    it.scoped("makes a file private that was not", () =>
      Effect.gen(function*() {
        if (windows) return
        const { file, fs, settings } = yield* settingsWorkshop("token: x\n")
        yield* fs.chmod(file, 0o644)
        yield* settings.saveServer(input())
        expect((yield* fs.stat(file)).mode & 0o777).toBe(0o600)
      }))

    it.scoped("replaces in place, and keeps the credentials that are not mentioned as they are written", () =>
      Effect.gen(function*() {
        const { read, settings, write } = yield* settingsWorkshop(stored)
        expect(yield* env(settings.saveServer(input({ ...unmoved, name: "New: name" })))).toEqual(
          { ...unmoved, name: "New: name" }
        )
        expect(yield* read).toBe(stored.replace("name: Main", "name: \"New: name\""))
        yield* write(stored)
        yield* env(settings.saveServer(input({ ...unmoved, password: secret("a\"b"), sudoPassword: secret("s") })))
        expect(yield* read).toBe(
          stored.replace("${env:MAIN_PASSWORD}", "\"a\\\"b\"").replace(
            "useSudo: true\n",
            "useSudo: true\n    sudoPassword: s\n"
          )
        )
      }))

    it.scoped("writes nothing when nothing changes", () =>
      Effect.gen(function*() {
        const { file, fs, settings } = yield* settingsWorkshop(stored)
        const before = yield* fs.stat(file)
        yield* env(settings.saveServer(input({ ...unmoved, passphrase: secret("p") })))
        yield* settings.saveServer(input({ ...unmoved, host: "${env:MAIN_HOST}" }))
        expect((yield* fs.stat(file)).ino).toEqual(before.ino)
      }))

    it.scoped("clears what is null or empty", () =>
      Effect.gen(function*() {
        const { read, settings } = yield* settingsWorkshop(stored)
        yield* env(settings.saveServer(input({
          ...unmoved,
          password: null,
          passphrase: secret(""),
          privateKey: null,
          agent: null
        })))
        expect(yield* read).toBe(
          stored.replace(" ${env:MAIN_PASSWORD}", "").replace("passphrase: p", "passphrase:")
            .replace("privateKey: ~/.ssh/id", "privateKey:").replace("agent: true", "agent:")
        )
        expect((yield* env(settings.server("1"))).credentials).toEqual({})
      }))

    it.scoped("sets what is left out back to its default", () =>
      Effect.gen(function*() {
        const { read, settings } = yield* settingsWorkshop(stored)
        yield* env(settings.saveServer(input({ id: "1", password: secret("x") })))
        const text = yield* read
        expect(text).toContain("port: 22\n")
        expect(text).toContain("useSudo: false\n")
        expect(text).toContain("passphrase:\n")
      }))

    const moves: ReadonlyArray<readonly [what: string, values: Partial<ServerInput>]> = [
      ["host", { host: "evil.example" }],
      ["port", { port: 23 }],
      ["user", { username: "root" }]
    ]
    for (const [what, values] of moves) {
      it.scoped(`drops credentials that would go to another ${what}, but takes new ones`, () =>
        Effect.gen(function*() {
          const { read, settings } = yield* settingsWorkshop(stored)
          yield* env(settings.saveServer(input({ ...unmoved, ...values, passphrase: secret("new") })))
          expect((yield* read).match(/MAIN_PASSWORD|\.ssh|agent: true/)).toBeNull()
          expect(parse(yield* read).servers[0]).toMatchObject({ ...values, passphrase: "new" })
        }))
    }

    it.scoped("drops credentials when it cannot tell where they went before", () =>
      Effect.gen(function*() {
        const { read, settings } = yield* settingsWorkshop(stored)
        yield* withEnv({})(settings.saveServer(input(unmoved)))
        expect(yield* read).not.toContain("MAIN_PASSWORD")
      }))

    it.scoped("keeps references that a caller sends", () =>
      Effect.gen(function*() {
        const { settings } = yield* settingsWorkshop()
        const { id } = yield* settings.saveServer(input({ password: secret("${env:MAIN_PASSWORD}") }))
        const { credentials } = yield* env(settings.server(id))
        expect(Redacted.value(credentials.password ?? secret(""))).toBe("pw")
      }))

    it.scoped("finds a server whose id is written as a number", () =>
      Effect.gen(function*() {
        const { read, settings } = yield* settingsWorkshop("servers:\n- id: 170\n  name: a\n  host: b\n  username: c\n")
        yield* settings.saveServer({ id: "170", name: "z", host: "b", username: "c" })
        expect(yield* read).toBe("servers:\n- id: 170\n  name: z\n  host: b\n  username: c\n")
        yield* settings.removeServer("170")
        expect(yield* read).toBe("servers:\n")
      }))

    it.scoped("removes just the lines of a server", () =>
      Effect.gen(function*() {
        const { read, settings } = yield* settingsWorkshop(stored)
        yield* settings.removeServer("2")
        expect(yield* read).toBe(stored.slice(0, stored.indexOf("  - id: \"2\"")))
        yield* settings.removeServer("1")
        expect(yield* read).toBe("# mine\nservers:\n  # the first\n")
        yield* settings.saveServer(input())
        expect(yield* settings.servers).toHaveLength(1)
      }))

    it.scoped("writes nothing for a server that is not there", () =>
      Effect.gen(function*() {
        const { directory, file, fs, path, settings } = yield* settingsWorkshop(stored)
        const before = yield* fs.stat(file)
        yield* settings.removeServer("none")
        expect((yield* fs.stat(file)).ino).toEqual(before.ino)
        const elsewhere = path.join(directory, "none", "berth.yaml")
        const others = yield* settingsIn(SettingsLive(elsewhere))
        yield* others.removeServer("none")
        expect(yield* fs.exists(path.dirname(elsewhere))).toBe(false)
      }))

    it.scoped("keeps a link a link, and locks the file that it leads to", () =>
      Effect.gen(function*() {
        const { directory, fs, path } = yield* settingsWorkshop()
        const real = path.join(directory, "real", "dots.yaml")
        const link = path.join(directory, "link.yaml")
        const dangling = path.join(directory, "dangling.yaml")
        yield* fs.makeDirectory(path.dirname(real))
        yield* fs.writeFileString(real, "token: x\n", { mode: 0o600 })
        yield* fs.symlink(real, link)
        yield* fs.symlink(path.join("real", "new.yaml"), dangling)
        for (const file of [link, dangling]) {
          const settings = yield* settingsIn(SettingsLive(file))
          yield* settings.saveServer(input())
          expect(yield* settings.servers).toHaveLength(1)
        }
        expect(yield* fs.readLink(link)).toBe(real)
        expect(yield* fs.readLink(dangling)).toBe(path.join("real", "new.yaml"))
        expect(yield* fs.readFileString(real)).toContain("token: x\nservers:\n")
        expect((yield* fs.readDirectory(path.dirname(real))).sort()).toEqual(["dots.yaml", "new.yaml"])
      }))

    const untouched: ReadonlyArray<readonly [what: string, text: string, words: RegExp]> = [
      ["does not parse", "servers: [\n", /:2:1: is not valid YAML/],
      ["holds an unknown setting", "tokn: x\n", /:1: tokn is not a setting/],
      [
        "could not be written without risk",
        "servers: [{id: a, name: a, host: b, username: c, password: &pw x}]\ntoken: *pw\n",
        /: servers cannot be changed by Berth without risk to the rest of the file: change it by hand$/
      ]
    ]
    for (const [what, text, words] of untouched) {
      it.scoped(`leaves a file alone that ${what}`, () =>
        Effect.gen(function*() {
          const { read, settings } = yield* settingsWorkshop(text)
          const failures = yield* Effect.all([
            Effect.flip(settings.removeServer("a")),
            Effect.flip(settings.saveServer(input({ id: "a", host: "elsewhere" })))
          ])
          for (const { message } of failures) expect(message).toMatch(words)
          expect(yield* read).toBe(text)
        }))
    }

    it.scoped("keeps what a person saves at the same time", () =>
      Effect.gen(function*() {
        const { file, fs } = yield* settingsWorkshop("token: a\n")
        const files = yield* LocalFiles
        const reads = yield* Ref.make(0)
        // An editor saves just after the file was read for the second time, and again.
        const busy = Layer.succeed(LocalFiles, {
          ...files,
          read: (path) =>
            Effect.gen(function*() {
              const bytes = yield* files.read(path)
              const count = yield* Ref.updateAndGet(reads, (n) => n + 1)
              if (count < 4) yield* files.write(path, `token: a${count}\n`)
              return bytes
            })
        })
        const settings = yield* settingsIn(Layer.provide(SettingsLive(file), busy))
        yield* settings.saveServer(input())
        expect(yield* fs.readFileString(file)).toMatch(/^token: a3\nservers:\n {2}- id: /)
      }))

    it.scoped("gives up on a file that never comes to rest", () =>
      Effect.gen(function*() {
        const { file } = yield* settingsWorkshop("token: a\n")
        const files = yield* LocalFiles
        const reads = yield* Ref.make(0)
        const restless = Layer.succeed(LocalFiles, {
          ...files,
          read: () => Effect.map(Ref.updateAndGet(reads, (n) => n + 1), (n) => new TextEncoder().encode(`token: a${n}`))
        })
        const settings = yield* settingsIn(Layer.provide(SettingsLive(file), restless))
        expect((yield* Effect.flip(settings.saveServer(input()))).message).toBe(`${file}: it keeps changing`)
      }))
  })

  layer(localSettings, { excludeTestServices: true })("at the same time", (it) => {
    it.scoped("many of them all land, each under its own id", () =>
      Effect.gen(function*() {
        const { read, settings } = yield* settingsWorkshop("# top\nservers: []  # none\n# end")
        const saved = yield* Effect.forEach(
          Array.from({ length: many }, (_, index) => `server ${index}`),
          (name) => settings.saveServer(input({ name })),
          { concurrency: "unbounded" }
        )
        const listed = yield* settings.servers
        expect(new Set(listed.map(({ id }) => id)).size).toBe(many)
        expect(listed.map(({ name }) => name).sort()).toEqual(saved.map(({ name }) => name).sort())
        expect(yield* read).toMatch(/^# top\nservers: {2}# none\n[^]*# end$/)
      }))

    it.scoped.skipIf(!slow)("from several processes too", () =>
      Effect.gen(function*() {
        const { directory, file, fs, settings } = yield* settingsWorkshop("token: x\n")
        const script = compiled(fileURLToPath(new URL("../../fixtures/saveServers.ts", import.meta.url)))
        const child = (name: string) =>
          Effect.async<number | null>((resume) => {
            const started = spawn(process.execPath, [script, file, name, String(many / 2)], { stdio: "inherit" })
            started.once("exit", (code) => resume(Effect.succeed(code)))
          })
        const own = Effect.forEach(Array.from({ length: many / 2 }, (_, index) => `own ${index}`), (name) =>
          settings.saveServer(input({ name })), { concurrency: "unbounded" })
        const [codes] = yield* Effect.all([
          Effect.all([child("one"), child("two")], { concurrency: "unbounded" }),
          Effect.delay(own, "1 second")
        ], { concurrency: "unbounded" })
        expect(codes).toEqual([0, 0])
        const listed = yield* settings.servers
        expect(listed).toHaveLength(many * 1.5)
        expect(
          new Set(listed.map(({ id }) =>
            id
          )).size
        ).toBe(many * 1.5)
        expect(new Set(listed.map(({ name }) => name)).size).toBe(many * 1.5)
        expect(yield* fs.readDirectory(directory)).toEqual(["berth.yaml"])
      }), 60_000 * patience)
  })
})
