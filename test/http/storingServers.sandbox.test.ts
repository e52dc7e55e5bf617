import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { computeFingerprint } from "../../src/services/HostKeys.ts"
import { settingsFileWith, startService } from "../fixtures/programs/service.ts"

const server = { host: "attic.invalid", username: "ann", password: "x" }
const key = (text: string) => Buffer.concat([Buffer.from([0, 0, 0, 11]), Buffer.from(`ssh-ed25519${text}`)])
const print = (text: string) => computeFingerprint(key(text))

describe("a server that is stored", () => {
  it.scopedLive("keeps the id and the name that it alone has, where that is wanted", () =>
    Effect.gen(function*() {
      const { request } = yield* startService(yield* settingsFileWith("{}\n"))
      const save = (more: object) => request("POST", "/api/servers", { ...server, ...more })
      // A new server gets a number, whatever id or used name is sent.
      for (const more of [{ name: "Main", id: "mine" }, { name: "Main" }]) {
        expect((yield* save(more)).body).toMatchObject({
          success: true,
          server: { id: expect.stringMatching(/^\d{13}$/) }
        })
      }
      expect((yield* save({ name: "Attic", newId: "attic-1", uniqueName: true })).body).toMatchObject({
        server: { id: "attic-1", name: "Attic" }
      })
      const before = (yield* request("GET", "/api/servers")).text
      const taken: ReadonlyArray<readonly [more: object, words: string]> = [
        [{ name: "main", uniqueName: true }, "The name \"main\" would be mistaken for the stored server Main"],
        [{ name: "ATTIC", uniqueName: true }, "The name \"ATTIC\" would be mistaken for the stored server Attic"],
        [{ name: "attic-1", uniqueName: true }, "The name \"attic-1\" would be mistaken for the stored server Attic"],
        [{ name: "New", newId: "attic-1" }, "The id \"attic-1\" would be mistaken for the stored server Attic"],
        [{ name: "New", newId: "attic" }, "The id \"attic\" would be mistaken for the stored server Attic"],
        [{ name: "Main", id: "attic-1", uniqueName: true }, "The name \"Main\" would be mistaken"]
      ]
      for (const [more, words] of taken) {
        const { body, status } = yield* save({ ...more, hostKey: print("other") })
        expect([more, status, body]).toEqual([more, 409, { error: expect.stringContaining(words) }])
      }
      expect((yield* request("GET", "/api/servers")).text).toBe(before)
      // Expect no confirmed key for a server that was refused.
      expect((yield* save({ name: "Attic", id: "attic-1", hostKey: print("one") })).status).toBe(200)
      expect((yield* save({ name: "Loft", id: "attic-1", newId: "else", uniqueName: true })).body).toMatchObject({
        server: { id: "attic-1", name: "Loft" }
      })
    }))

  it.scopedLive("is planned with the diff of the file, in which a new secret shows without its value", () =>
    Effect.gen(function*() {
      const file = yield* settingsFileWith("servers:\n  - { id: a, name: Attic, host: attic.invalid, username: ann }\n")
      const { request } = yield* startService(file)
      const before = readFileSync(file, "utf8")
      const loft = { ...server, name: "Loft", newId: "loft", uniqueName: true, hostKey: print("one") }
      const added = yield* request("POST", "/api/servers?plan=true", loft)
      expect(added).toMatchObject({
        status: 200,
        body: { success: true, server: { id: "loft", name: "Loft" }, change: { file, changed: true } }
      })
      expect(added.text).toContain("+    password: \\\"*** (new)\\\"")
      const attic = { name: "Attic", host: "attic.invalid", username: "ann" }
      const same = yield* request("PUT", "/api/servers/Attic?plan=true", attic)
      expect(same.body).toMatchObject({ change: { changed: false, diff: "" } })
      const changed = yield* request("PUT", "/api/servers/a?plan=true", { ...attic, password: "other-secret" })
      expect(changed.body).toMatchObject({ server: { id: "a" }, change: { changed: true } })
      expect(changed.text).not.toContain("other-secret")
      expect((yield* request("POST", "/api/servers?plan=true", { ...loft, name: "Attic" })).status).toBe(409)
      expect(readFileSync(file, "utf8")).toBe(before)
      const stored = yield* request("PUT", "/api/servers/a?plan=false", { ...attic, password: "other-secret" })
      expect(stored.body).not.toHaveProperty("change")
      expect(readFileSync(file, "utf8")).toContain("other-secret")
    }))

  it.scopedLive("gets another host key only where the remembered one is named", () =>
    Effect.gen(function*() {
      const settingsFile = yield* settingsFileWith(
        "servers:\n  - { id: a, name: Attic, host: attic.invalid, username: ann }\n"
      )
      const knownHosts = join(dirname(settingsFile), "berth.known_hosts")
      writeFileSync(knownHosts, `attic.invalid ssh-ed25519 ${key("one").toString("base64")}\n`)
      const { request } = yield* startService(settingsFile)
      const save = (more: object) => request("POST", "/api/servers", { ...server, id: "a", name: "Attic", ...more })
      const [one, two] = [print("one"), print("two")]
      const files = () => [readFileSync(settingsFile, "utf8"), readFileSync(knownHosts, "utf8")]
      const before = files()
      for (const more of [{}, { replacesHostKey: two }]) {
        const { body, status } = yield* save({ hostKey: two, ...more })
        expect([status, body]).toEqual([409, {
          error: expect.stringMatching(/attic\.invalid:22 is remembered with the host key .* nothing was stored/)
        }])
        for (const fingerprint of [one, two]) expect(JSON.stringify(body)).toContain(fingerprint)
      }
      expect(files()).toEqual(before)
      expect((yield* save({ hostKey: one })).status).toBe(200)
      expect(files()[1]).toBe(before[1])
      expect((yield* save({ hostKey: two, replacesHostKey: one })).status).toBe(200)
      expect(files()[1]).toBe(`# confirmed attic.invalid ${two}\n`)
    }))

  it.scopedLive("has its host key in the settings until its machine or its key is another one", () =>
    Effect.gen(function*() {
      const [one, two] = [print("one"), print("two")]
      const file = yield* settingsFileWith(
        `servers:\n  - { id: a, name: Attic, host: attic.invalid, username: ann, hostKey: "${one}" }\n`
      )
      const { request } = yield* startService(file)
      const attic = { name: "Attic", host: "attic.invalid", username: "ann" }
      const put = (more: object) => request("PUT", "/api/servers/a", { ...attic, ...more })
      expect((yield* request("GET", "/api/servers")).body).toMatchObject([{ hostKey: one }])
      const refused = yield* put({ hostKey: two })
      expect(refused).toMatchObject({ status: 409, body: { error: expect.stringContaining(one) } })
      expect((yield* put({ name: "Loft", username: "bob" })).body).toMatchObject({ server: { hostKey: one } })
      expect((yield* put({ hostKey: two, replacesHostKey: one })).body).toMatchObject({ server: { hostKey: two } })
      expect(readFileSync(file, "utf8")).toContain(`hostKey: "${two}"`)
      expect((yield* put({ host: "loft.invalid" })).body).not.toHaveProperty("server.hostKey")
      expect(readFileSync(file, "utf8")).not.toContain("SHA256")
      expect((yield* put({ hostKey: one, host: "cellar.invalid" })).status).toBe(200)
      expect(readFileSync(file, "utf8")).toContain(`hostKey: "${one}"`)
      expect((yield* put({ hostKey: null, host: "cellar.invalid" })).status).toBe(200)
      expect(readFileSync(file, "utf8")).not.toContain("SHA256")
    }))

  it.scopedLive("has no other host key than the fingerprint of one, and loses it for nobody with a token", () =>
    Effect.gen(function*() {
      const token = "an-operators-token"
      const one = print("one")
      const file = yield* settingsFileWith(
        `http: { token: ${token} }\n` +
          `servers:\n  - { id: a, name: Attic, host: attic.invalid, username: ann, hostKey: "${one}" }\n`
      )
      const { request } = yield* startService(file)
      const attic = { name: "Attic", host: "attic.invalid", username: "ann", hostKey: null }
      const headers = { authorization: `Bearer ${token}` }
      expect((yield* request("PUT", "/api/servers/a", attic, headers)).status).toBe(403)
      expect(readFileSync(file, "utf8")).toContain(one)
      writeFileSync(file, "servers:\n  - { id: a, name: Attic, host: attic.invalid, username: ann, hostKey: 12:34 }\n")
      const invalid = yield* request("GET", "/api/servers", undefined, headers)
      expect(invalid.text).toContain("must be a fingerprint as ssh-keygen -l prints it")
    }))
})
