import { Path } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  confirmText,
  describeUse,
  digestSettingsText,
  readConfirmedDigests
} from "../../../../src/services/settings/confirm.ts"
import { parseSettingsDocument } from "../../../../src/services/settings/document.ts"
import { SettingsLive } from "../../../../src/services/settings/SettingsLive.ts"
import { localSettings, settingsIn } from "../../../fixtures/settingsIn.ts"

/** A home directory of its own for this process, and a file of settings that nobody named. */
const makeScene = Effect.gen(function*() {
  const root = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const directory = mkdtempSync(join(tmpdir(), "berth-confirmed-"))
      const before = process.env["HOME"]
      process.env["HOME"] = directory
      return { directory, before }
    }),
    ({ before, directory }) =>
      Effect.sync(() => {
        if (before === undefined) delete process.env["HOME"]
        else process.env["HOME"] = before
        rmSync(directory, { recursive: true, force: true })
      })
  )
  const file = join(root.directory, "repository", "berth.yaml")
  mkdirSync(join(root.directory, "repository"))
  const write = (text: string) => writeFileSync(file, text, { mode: 0o600 })
  return { file, write, notes: join(root.directory, ".config", "berth") }
})

const main = (host: string) => `servers: [{ id: "1", name: Main, host: ${host}, username: u }]\n`
const server = { name: "Other", host: "other.example.com", port: 22, username: "u", useSudo: false }

describe.skipIf(process.platform === "win32")("settings that nobody named", () => {
  it.scoped("are in use only as they were confirmed, from one reading to the next", () =>
    Effect.gen(function*() {
      const { file, notes, write } = yield* makeScene
      write(`http: { token: open-sesame-open-sesame }\n${main("a")}`)
      const settings = yield* settingsIn(SettingsLive({ file, isNamed: false }))
      const hosts = Effect.map(settings.servers, (servers) => servers.map(({ host }) => host))
      const refused = {
        message: expect.stringContaining(`${file}: has changed since it was confirmed, and is not used`)
      }
      const confirm = Effect.suspend(() => confirmText(file, digestSettingsText(readFileSync(file))))

      expect(yield* Effect.flip(hosts)).toMatchObject(refused)
      yield* confirm
      expect(yield* hosts).toEqual(["a"])
      const token = Effect.map(settings.guard, ({ token }) => Option.map(token, Redacted.value))
      expect(yield* token).toEqual(Option.some("open-sesame-open-sesame"))

      write(main("b"))
      expect(yield* Effect.flip(hosts)).toMatchObject(refused)
      expect(yield* token).toEqual(Option.some("open-sesame-open-sesame"))
      expect(yield* settings.findings).toMatchObject([{ problem: refused.message }])
      expect(yield* Effect.flip(settings.saveServer(server))).toMatchObject(refused)
      expect(readFileSync(file, "utf8")).toBe(main("b"))

      yield* confirm
      expect(yield* hosts).toEqual(["b"])
      for (const name of ["One", "Two", "Three"]) yield* settings.saveServer({ ...server, name })
      expect(yield* hosts).toEqual(["b", ...Array(3).fill(server.host)])
      expect(yield* readConfirmedDigests(file)).toContain(digestSettingsText(readFileSync(file)))
      expect(readdirSync(notes)).toEqual(["trusted"])
    }).pipe(Effect.provide(localSettings)))

  it.scoped("are not confirmed by an edit of a text that was not, nor by a note that cannot be read", () =>
    Effect.gen(function*() {
      const { file, notes, write } = yield* makeScene
      write(main("a"))
      const named = yield* settingsIn(SettingsLive(file))
      yield* named.saveServer(server)
      expect(yield* readConfirmedDigests(file)).toEqual([])
      mkdirSync(notes, { recursive: true })
      for (const text of ["", "{", "[1]", `[{"file":"${file}"}]`, "null"]) {
        writeFileSync(join(notes, "trusted"), text)
        expect(yield* readConfirmedDigests(file)).toEqual([])
      }
      yield* confirmText(file, "0".repeat(64))
      expect(yield* readConfirmedDigests(file)).toEqual(["0".repeat(64)])
      expect(yield* readConfirmedDigests(`${file}2`)).toEqual([])
    }).pipe(Effect.provide(localSettings), Effect.provide(Path.layer)))
})

describe("describeUse", () => {
  it("tells where Berth would log in, whom it would ask, and what it would read and run, without credentials", () => {
    const text = [
      "platform: { url: 'https://u:hunter2-secret@platform.example.com/api', token: '${env:PLATFORM_TOKEN}' }",
      "state: { url: 'postgres://u:hunter2-secret@db.example.com/berth' }",
      "editor: { command: [evil-editor, --now] }",
      "telemetry: { otlp: 'https://otel.example.com/in' }",
      "build: { shell: [evil-shell] }",
      "projects: { root: /elsewhere }",
      "servers:",
      ...[1, 2, 3, 4, 5, 6, 7].map((id) =>
        `  - { id: "${id}", name: S${id}, host: h${id}, username: u, password: "\${file:~/.netrc}", privateKey: ~/.ssh/id }`
      )
    ].join("\n")
    const uses = parseSettingsDocument("berth.yaml", text).pipe((found) =>
      found._tag === "Right" ? describeUse(found.right) : []
    )
    expect(uses).toEqual([
      "log in to u@h1, u@h2, u@h3, u@h4, u@h5, 2 more",
      "read ~/.ssh/id, ${env:PLATFORM_TOKEN}, ${file:~/.netrc}",
      "ask platform.example.com, db.example.com",
      "send spans and metrics to otel.example.com",
      "run evil-editor, evil-shell",
      "find projects in /elsewhere"
    ])
  })

  it.each([
    ["\"\"", ["log in to u@h"]],
    ["\"  \"", ["log in to u@h"]],
    ["\"a, b@c:7\"", ["log in to a, b@c:7, u@h", "use your SSH agent, the keys of ~/.ssh"]]
  ])("tells of the jump hosts %s, and of the user's keys that they get", (jump, uses) => {
    const text = `servers:\n  - { id: a, name: A, host: h, username: u, jump: ${jump} }\n`
    const found = parseSettingsDocument("berth.yaml", text)
    expect(found._tag === "Right" ? describeUse(found.right) : []).toEqual(uses)
  })
})
