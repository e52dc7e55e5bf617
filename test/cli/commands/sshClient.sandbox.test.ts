import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import ssh2 from "ssh2"
import { afterAll } from "vitest"
import { makeWorld } from "../../../src/sandbox/world.ts"
import { runCli } from "../../fixtures/cli.ts"
import { settingsFileWith, startService } from "../../fixtures/service.ts"

// The files of the SSH client are in the home directory.
const before = process.env["HOME"]
const home = mkdtempSync(join(tmpdir(), "berth-ssh-client-"))
process.env["HOME"] = home
afterAll(() => {
  process.env["HOME"] = before
  rmSync(home, { recursive: true })
})
const plant = (name: string, text: string) => writeFileSync(join(home, ".ssh", name), text, { mode: 0o600 })
mkdirSync(join(home, ".ssh"))

const shownKey = (host: string, port: number) =>
  Effect.async<string>((resume) => {
    const client = new ssh2.Client()
    client.on("error", () => undefined)
    client.connect({
      host,
      port,
      username: "x",
      hostVerifier: (key: Buffer) => {
        resume(Effect.succeed(key.toString("base64")))
        return false
      }
    })
  })

const typeOf = "ssh-ed25519"
const wrong = Buffer.concat([Buffer.from([0, 0, 0, typeOf.length]), Buffer.from(typeOf), Buffer.alloc(36)])

describe.skipIf(process.platform === "win32")("a server that the SSH configuration knows", () => {
  it.scopedLive(
    "is added and tested by its alias alone, and refused with both keys where known_hosts has another",
    () =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        const { request } = yield* startService(world.settingsFile)
        const [stored] = (yield* request("GET", "/api/servers")).body as ReadonlyArray<{ host: string; port: number }>
        const { host, port } = stored ?? { host: "", port: 0 }
        const { url } = yield* startService(yield* settingsFileWith("projects: { root: /tmp }\n"))
        plant("id", "no key")
        plant(
          "config",
          `Host attic\n  HostName ${host}\n  Port ${port}\n  User ann\n  IdentityFile ~/.ssh/id\nHost far\n  ProxyJump attic\n`
        )

        const unknown = yield* runCli({ url }, ["server", "add", "cellar"])
        expect(unknown).toMatchObject({
          code: 64,
          err: expect.stringContaining("no Host section there names \"cellar\"")
        })
        const jump = yield* runCli({ url }, ["server", "add", "far"])
        expect(jump).toMatchObject({
          code: 1,
          err: expect.stringContaining("through \"attic\" (ProxyJump or ProxyCommand)")
        })

        const tested = yield* runCli({ url }, ["server", "test", "attic", "--json"])
        const shown = JSON.parse(tested.out).hostKey
        expect(shown).toMatchObject({ standing: "new" })

        plant("known_hosts", `[${host}]:${port} ${shown.type} ${wrong.toString("base64")}\n`)
        const other = `SHA256:${createHash("sha256").update(wrong).digest("base64").replace(/=+$/, "")}`
        const refused = yield* runCli({ url }, ["server", "add", "attic"])
        expect(refused.code).toBe(1)
        expect(refused.err.replaceAll(/\s+/g, " ")).toContain(
          `shows the host key ${shown.fingerprint}, and known is ${other}`
        )
        expect((yield* runCli({ url }, ["server", "list", "--json"])).out).toBe("[]\n")

        const key = yield* shownKey(host, port)
        plant("known_hosts", `[${host}]:${port} ${shown.type} ${key}\n`)
        expect(JSON.parse((yield* runCli({ url }, ["server", "test", "attic", "--json"])).out).hostKey).toMatchObject({
          fingerprint: shown.fingerprint,
          standing: "known"
        })
        const added = yield* runCli({ url }, ["server", "add", "attic"])
        expect(added.err.replaceAll(/\s+/g, " ")).toContain(`${shown.fingerprint} is the one that is known`)
        expect(added.err.replaceAll(/\s+/g, " ")).toContain(
          `host ${host} (${join(home, ".ssh/config")}:2), port ${port} (${join(home, ".ssh/config")}:3), user ann`
        )
        expect(JSON.parse((yield* runCli({ url }, ["server", "list", "--json"])).out)).toMatchObject([
          { name: "attic", host, port, username: "ann" }
        ])
      }),
    60_000
  )
})
