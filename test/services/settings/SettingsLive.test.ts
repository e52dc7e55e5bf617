import { Path } from "@effect/platform"
import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Logger, Option, Redacted, Ref } from "effect"
import { homedir } from "node:os"
import { LocalFiles } from "../../../src/services/local/LocalFiles.ts"
import { SettingsLive } from "../../../src/services/settings/SettingsLive.ts"
import { localSettings, settingsIn, settingsWorkshop, withEnv } from "../../fixtures/settingsIn.ts"

const windows = process.platform === "win32"

const messageOf = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)

/** Log of an effect. */
const logged = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => lines.push(String(message)))
    yield* Effect.provide(effect, Logger.replace(Logger.defaultLogger, logger))
    return lines
  })

const two = `servers:
  - id: 1700000000000
    name: Main
    host: \${env:MAIN_HOST}
    username: deployer
    password: \${env:MAIN_PASSWORD}
  - id: b
    name: 42
    host: 10.0.0.2
    port: 2222
    username: root
    useSudo: true
    sudoPassword: 0123
    privateKey: keys/id
    passphrase: "pass # phrase"
    agent: true
`

describe("SettingsLive", () => {
  layer(localSettings)("reading", (it) => {
    it.scoped("takes an absent file for the defaults", () =>
      Effect.gen(function*() {
        const { file, settings } = yield* settingsWorkshop()
        expect(settings.file).toBe(file)
        expect(yield* settings.get("gitHost.sshPort")).toBe(2004)
        expect(yield* settings.get("projects.root")).toBe((yield* Path.Path).join(homedir(), "projects"))
        expect(yield* settings.find("platform.url")).toEqual(Option.none())
        expect(yield* messageOf(settings.get("platform.url"))).toBe(
          `The setting platform.url is missing: add it to ${file}`
        )
        expect(yield* settings.servers).toEqual([])
        expect((yield* Effect.flip(settings.server("a")))._tag).toBe("ServerNotFound")
      }))

    it.scoped("reads what stands there, with local paths absolute", () =>
      Effect.gen(function*() {
        const { at, settings, write } = yield* settingsWorkshop("projects: { root: here/projects }\ntoken: 0123\n")
        expect(yield* settings.get("projects.root")).toBe(at((yield* Path.Path).join("here", "projects")))
        expect(Redacted.value(yield* settings.get("token"))).toBe("0123")
        yield* write("projects: { root: ~ }\nplatform: { timeout: 5 seconds }\ngitHost: { sshPort: \"22\", url: '' }\n")
        expect((yield* settings.get("platform.timeout")).toString()).toBe("Duration(5s)")
        expect(yield* settings.get("gitHost.sshPort")).toBe(22)
        expect(yield* settings.find("gitHost.url")).toEqual(Option.none())
        yield* write("projects: { root: \"~/p\" }\n")
        expect(yield* settings.get("projects.root")).toBe((yield* Path.Path).join(homedir(), "p"))
      }))

    it.scoped("takes the address of a database for a secret, and its password, however it is written", () =>
      Effect.gen(function*() {
        const { settings, write } = yield* settingsWorkshop()
        const secrets = Effect.map(settings.secrets, (all) => all.map(Redacted.value))
        const address = "postgres://ann:pass%2Bword@db/berth"
        yield* write(`state: { url: "${address}" }\n`)
        expect(yield* secrets).toEqual([address, "pass%2Bword", "pass+word"])
        const other = "postgres://ann@/berth?host=/run&password=pass-word"
        yield* write(`state: { url: "${other}" }\n`)
        expect(yield* secrets).toEqual([other, "pass-word", "pass-word"])
        yield* write("state: { url: \"postgres://ann@db/berth\" }\n")
        expect(yield* secrets).toEqual(["postgres://ann@db/berth"])
      }))

    it.scoped("sees every change, however quick and alike", () =>
      Effect.gen(function*() {
        const { file, fs, settings, write } = yield* settingsWorkshop()
        const then = new Date(Date.now() - 1000)
        for (let number = 1000; number < 1030; number += 1) {
          yield* write(`gitHost: { sshPort: ${number} }\n`)
          yield* fs.utimes(file, then, then)
          expect(yield* settings.get("gitHost.sshPort")).toBe(number)
        }
        yield* fs.remove(file)
        expect(yield* settings.get("gitHost.sshPort")).toBe(2004)
      }))

    it.scoped("names file, line and setting of what does not fit, until it is mended", () =>
      Effect.gen(function*() {
        const { file, settings, write } = yield* settingsWorkshop("platform:\n  timeout: soon\n")
        const words = `${file}:2: platform.timeout is not a duration: write it like "20 seconds"`
        expect(yield* messageOf(settings.get("gitHost.sshPort"))).toBe(words)
        expect(yield* messageOf(settings.servers)).toBe(words)
        expect(yield* messageOf(settings.server("a"))).toBe(words)
        yield* write("platform: [\n")
        expect(yield* messageOf(settings.get("gitHost.sshPort"))).toContain(`${file}:2:1: is not valid YAML: `)
        yield* write("platform:\n  timeout: 1 second\n")
        expect(yield* settings.get("gitHost.sshPort")).toBe(2004)
      }))

    it.scoped("says when the file is no text, or no file", () =>
      Effect.gen(function*() {
        const { directory, file, fs } = yield* settingsWorkshop()
        yield* fs.writeFile(file, new Uint8Array([0x61, 0xff, 0x3a]))
        const settings = yield* settingsIn(SettingsLive(file))
        expect(yield* messageOf(settings.servers)).toBe(`${file}: is not valid UTF-8`)
        const folder = yield* settingsIn(SettingsLive(directory))
        expect(yield* messageOf(folder.servers)).toBe(`${directory}: is not a regular file`)
      }))
  })

  layer(localSettings, { excludeTestServices: true })("a file at rest", (it) => {
    it.scoped("does not read a file again that has not changed", () =>
      Effect.gen(function*() {
        const { file, fs } = yield* settingsWorkshop("gitHost: { sshPort: 1 }\n")
        const files = yield* LocalFiles
        const reads = yield* Ref.make(0)
        const counting = Layer.succeed(LocalFiles, {
          ...files,
          read: (path) => Effect.zipRight(Ref.update(reads, (n) => n + 1), files.read(path))
        })
        const settings = yield* settingsIn(Layer.provide(SettingsLive(file), counting))
        const then = new Date(Date.now() - 60_000)
        yield* fs.utimes(file, then, then)
        for (const _ of Array.from({ length: 5 })) expect(yield* settings.get("gitHost.sshPort")).toBe(1)
        expect(yield* Ref.get(reads)).toBe(1)
        yield* fs.writeFileString(file, "gitHost: { sshPort: 22 }\n")
        expect(yield* settings.get("gitHost.sshPort")).toBe(22)
      }))
  })

  layer(localSettings)("references", (it) => {
    it.scoped("are resolved at use, anywhere in a text", () =>
      Effect.gen(function*() {
        const { at, fs, settings } = yield* settingsWorkshop(
          "platform:\n  url: https://${env:HOST}:${env:PORT}/api\n  token: ${file:secret}\n  timeout: ${env:TIME}\n" +
            "gitHost: { sshPort: \"${env:PORT}\" }\nhttp: { hosts: [\"${env:HOST}\", b] }\nprojects: { root: \"${env:ROOT}\" }\n"
        )
        yield* fs.writeFileString(at("secret"), "\ufeffs3cret # all of it\r\n\n")
        const env = withEnv({ HOST: "h", PORT: "8000", TIME: "2 seconds", ROOT: "sub" })
        expect(yield* env(settings.get("platform.url"))).toBe("https://h:8000/api")
        expect(yield* env(settings.get("gitHost.sshPort"))).toBe(8000)
        expect(yield* env(settings.get("http.hosts"))).toEqual(["h", "b"])
        expect((yield* env(settings.get("platform.timeout"))).toString()).toBe("Duration(2s)")
        expect(yield* env(settings.get("projects.root"))).toBe(at("sub"))
        expect(Redacted.value(yield* settings.get("platform.token"))).toBe("s3cret # all of it")
      }))

    it.scoped("give a token the name or the value of another one, which each of the two is told of", () =>
      Effect.gen(function*() {
        const { settings } = yield* settingsWorkshop(
          "http:\n  token: \"${env:ANN}\"\n  tokens:\n" +
            "    - { name: Ann, token: of-ann-0123456789, role: viewer }\n" +
            "    - { name: Bob, token: of-bob-0123456789, role: viewer }\n" +
            "    - { name: \"${env:NAME}\", token: of-cid-0123456789, role: viewer }\n" +
            "    - { name: Dan, token: of-dan-0123456789, role: viewer }\n"
        )
        const env = withEnv({ ANN: "of-ann-0123456789", NAME: "Bob" })
        expect((yield* env(settings.tokens)).map(({ problem }) => problem)).toEqual([
          null,
          "http.tokens[0] has the same token as http.token",
          "http.tokens[1] has the same name as http.tokens[2]",
          "http.tokens[2] has the same name as http.tokens[1]",
          null
        ])
      }))

    it.scoped("fail only what uses them, and name it", () =>
      Effect.gen(function*() {
        const { at, file, fs, settings } = yield* settingsWorkshop(
          "platform: { url: \"${env:NOT_SET}\", token: \"${file:gone}\", timeout: \"${env:TIME}\", projectUuid: \"${env:EMPTY}\" }\n" +
            "token: ${file:.}\ngitHost: { owner: \"${env:}\", token: \"${file:empty}\", sshHost: fine }\n"
        )
        yield* fs.writeFileString(at("empty"), "\n")
        const cannot = (setting: string) => `The setting ${setting} in ${file} cannot be resolved: `
        const env = withEnv({ TIME: "soon", EMPTY: "" })
        expect(yield* settings.get("gitHost.sshHost")).toBe("fine")
        expect(yield* messageOf(env(settings.get("platform.url")))).toBe(
          `${cannot("platform.url")}the environment variable NOT_SET is not set`
        )
        expect(yield* messageOf(env(settings.find("platform.projectUuid")))).toBe(
          `${cannot("platform.projectUuid")}the environment variable EMPTY is not set`
        )
        expect(yield* messageOf(settings.get("platform.token"))).toBe(
          `${cannot("platform.token")}the file ${at("gone")} does not exist`
        )
        expect(yield* messageOf(settings.get("token"))).toMatch(/ is not a regular file$/)
        expect(yield* messageOf(settings.get("gitHost.owner"))).toMatch(/names nothing$/)
        expect(yield* messageOf(settings.get("gitHost.token"))).toBe(
          `${cannot("gitHost.token")}${at("empty")} is empty`
        )
        expect(yield* messageOf(env(settings.get("platform.timeout")))).toBe(
          `${file}:1: platform.timeout is not a duration: write it like "20 seconds"`
        )
      }))
  })

  layer(localSettings)("servers", (it) => {
    it.scoped("are listed without their credentials, which need not resolve", () =>
      Effect.gen(function*() {
        const { settings } = yield* settingsWorkshop(two)
        expect(yield* withEnv({ MAIN_HOST: "10.0.0.1" })(settings.servers)).toEqual([
          { id: "1700000000000", name: "Main", host: "10.0.0.1", port: 22, username: "deployer", useSudo: false },
          { id: "b", name: "42", host: "10.0.0.2", port: 2222, username: "root", useSudo: true }
        ])
        expect(yield* messageOf(withEnv({})(settings.servers))).toContain("The setting servers[0].host in ")
      }))

    it.scoped("come with their own credentials, whatever those of others are", () =>
      Effect.gen(function*() {
        const { at, settings } = yield* settingsWorkshop(two)
        const { credentials, ...server } = yield* withEnv({})(settings.server("b"))
        expect(server).toEqual({ id: "b", name: "42", host: "10.0.0.2", port: 2222, username: "root", useSudo: true })
        expect({ ...credentials, sudoPassword: undefined, passphrase: undefined }).toEqual({
          privateKey: at((yield* Path.Path).join("keys", "id")),
          agent: true,
          sudoPassword: undefined,
          passphrase: undefined
        })
        expect(Redacted.value(credentials.sudoPassword ?? Redacted.make(""))).toBe("0123")
        expect(Redacted.value(credentials.passphrase ?? Redacted.make(""))).toBe("pass # phrase")
        const env = withEnv({ MAIN_HOST: "10.0.0.1", MAIN_PASSWORD: "pw" })
        const main = yield* env(settings.server("1700000000000"))
        expect(Redacted.value(main.credentials.password ?? Redacted.make(""))).toBe("pw")
        expect(Object.keys(main.credentials)).toEqual(["password"])
        expect(yield* messageOf(withEnv({ MAIN_HOST: "h" })(settings.server("1700000000000")))).toContain(
          "The setting servers[0].password in "
        )
        expect(yield* messageOf(settings.server("c"))).toBe(
          "Server not found: no stored server has the id or the name \"c\". Ids (and names) of the stored servers: " +
            "\"1700000000000\" (Main), \"b\" (42)"
        )
      }))
  })

  layer(localSettings)("the guard's settings", (it) => {
    const token = (found: { readonly token: Option.Option<Redacted.Redacted> }) =>
      Option.getOrNull(Option.map(found.token, Redacted.value))

    it.scoped("follow the file, and hold while it is broken", () =>
      Effect.gen(function*() {
        const { file, fs, settings, write } = yield* settingsWorkshop()
        const nothing = { token: Option.none(), tokens: [], hosts: [], origins: [] }
        expect(yield* settings.guard).toEqual(nothing)
        yield* write("http: { token: t, hosts: [a], origins: [\"https://o\"] }\n")
        expect(token(yield* settings.guard)).toBe("t")
        expect(yield* settings.guard).toMatchObject({ hosts: ["a"], origins: ["https://o"] })
        for (const broken of ["http: [\n", "http: { token: ok, hosts: 5 }\n", "http: { tokn: a }\n", "- a\n"]) {
          yield* write(broken)
          expect(token(yield* settings.guard)).toBe("t")
        }
        yield* write("http: { token: \"${env:NOT_SET}\" }\n")
        expect(token(yield* settings.guard)).toBe("t")
        yield* write("http: { token: new }\nplatform: { timeout: soon }\n")
        expect(token(yield* settings.guard)).toBe("new")
        for (const saved of ["", "\n", undefined]) {
          yield* saved === undefined ? fs.remove(file) : write(saved)
          expect(token(yield* settings.guard)).toBe("new")
        }
        yield* write("http: { token: newer }\n")
        expect(token(yield* settings.guard)).toBe("newer")
      }))

    it.scoped("let nobody in once their tokens are gone", () =>
      Effect.gen(function*() {
        for (const tokens of ["token: open-sesame", "tokens: [{ name: A, token: open-sesame-sesame, role: viewer }]"]) {
          const { fs, file, settings, write } = yield* settingsWorkshop(`http: { ${tokens} }\n`)
          const before = yield* settings.guard
          const texts = ["# none", "http: { hosts: [b] }", "http: {}", "http:", "http: [", "platform: {}", "", "{}"]
          const warnings = yield* logged(Effect.gen(function*() {
            for (const text of texts) {
              yield* write(`${text}\n`)
              const closed = token(yield* settings.guard)
              expect(closed?.length, text).toBeGreaterThan(30)
              expect(yield* settings.guard, text).toMatchObject({ tokens: [] })
            }
            yield* fs.remove(file)
            expect(token(yield* settings.guard)?.length).toBeGreaterThan(30)
          }))
          expect(warnings.filter((line) => line.includes("only commands of this user on this machine"))).toHaveLength(1)
          yield* write(`http: { ${tokens} }\n`)
          expect(yield* settings.guard).toEqual(before)
        }
      }))

    it.scoped("let nobody in while a file was broken from the start that may ask for a token", () =>
      Effect.gen(function*() {
        for (
          const text of [
            "http: { token: a\n",
            "a: [\nhttp:\n  token: b\n",
            "{\"http\": {\"token\": 1}",
            "http.token: a\n- b\n"
          ]
        ) {
          const { settings, write } = yield* settingsWorkshop(text)
          expect(token(yield* settings.guard)?.length, text).toBeGreaterThan(30)
          yield* write("http: { token: known }\n")
          expect(token(yield* settings.guard)).toBe("known")
        }
        // With a mistake elsewhere, the token is the one that is written, in either spelling.
        for (
          const text of ["http: { token: known }\n", "http.token: known\n", "http.token: known\nhttp: { hosts: [a] }\n"]
        ) {
          const { settings } = yield* settingsWorkshop(`serverz: 1\n${text}`)
          expect(token(yield* settings.guard), text).toBe("known")
        }
        const unreadable = yield* settingsWorkshop()
        yield* unreadable.fs.writeFile(unreadable.file, new Uint8Array([0xff, 0xfe]))
        expect(token(yield* unreadable.settings.guard)?.length).toBeGreaterThan(30)
        const { settings } = yield* settingsWorkshop("platform: [\n# http://127.0.0.1\n")
        expect(yield* settings.guard).toEqual({ token: Option.none(), tokens: [], hosts: [], origins: [] })
      }))

    it.scoped("ask for a token that nobody has when the real one was never known", () =>
      Effect.gen(function*() {
        const { settings } = yield* settingsWorkshop("http: { token: \"${env:NOT_SET}\" }\n")
        const warnings = yield* logged(Effect.gen(function*() {
          const first = token(yield* settings.guard)
          expect(first?.length).toBeGreaterThan(30)
          expect(token(yield* settings.guard)).not.toBe(first)
        }))
        expect(warnings).toHaveLength(1)
        expect(warnings[0]).toContain("http.token")
        expect(token(yield* withEnv({ NOT_SET: "now" })(settings.guard))).toBe("now")
      }))

    it.scoped("never fail", () =>
      Effect.gen(function*() {
        const { directory } = yield* settingsWorkshop()
        const settings = yield* settingsIn(SettingsLive(directory))
        expect(yield* settings.guard).toEqual({ token: Option.none(), tokens: [], hosts: [], origins: [] })
      }))
  })

  layer(localSettings)("a file that others can read", (it) => {
    it.scoped("is warned of once a change", () =>
      Effect.gen(function*() {
        if (windows) return
        const { file, fs, settings, write } = yield* settingsWorkshop("token: a\n")
        expect(yield* logged(settings.servers)).toEqual([])
        yield* fs.chmod(file, 0o640)
        yield* write("token: bc\n")
        const lines = yield* logged(Effect.all([settings.servers, settings.guard, settings.servers]))
        expect(lines).toEqual([`Others on this machine can read ${file}, which may hold passwords: chmod 600 it`])
        yield* write("token: def\n")
        expect(yield* logged(settings.servers)).toHaveLength(1)
        yield* fs.chmod(file, 0o604)
        yield* write("token: defg\n")
        expect(yield* logged(settings.servers)).toHaveLength(1)
        yield* fs.chmod(file, 0o600)
        yield* write("token: ghijk\n")
        expect(yield* logged(settings.servers)).toEqual([])
      }))
  })
})
