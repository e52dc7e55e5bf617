import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import ssh2 from "ssh2"
import { afterAll } from "vitest"
import { makeWorld } from "../../../src/sandbox/world.ts"
import { patience } from "../../fixtures/patience.ts"
import { runCli } from "../../fixtures/programs/cli.ts"
import { settingsFileWith, startService } from "../../fixtures/programs/service.ts"

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
          `Host attic\n  HostName ${host}\n  Port ${port}\n  User ann\n  IdentityFile ~/.ssh/id\nHost far\n  ProxyCommand nc %h %p\n` +
            "Host deep\n  HostName 127.0.0.9\n  User deb\n  ProxyJump attic\nHost unread\n  ProxyJump %x\n"
        )

        const unknown = yield* runCli({ url }, ["server", "add", "cellar"])
        expect(unknown).toMatchObject({
          code: 64,
          err: expect.stringContaining("no Host section there names \"cellar\"")
        })
        const jump = yield* runCli({ url }, ["server", "add", "far"])
        expect(jump).toMatchObject({
          code: 1,
          err: expect.stringContaining("with the ProxyCommand \"nc %h %p\"")
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
        // A question could only replace a key of Berth's own: that of known_hosts would go on refusing the server.
        const asked = yield* runCli({ url }, ["server", "add", "attic"], { answers: [true] })
        expect(asked).toMatchObject({ code: 1, err: expect.not.stringContaining("[y/N]") })
        expect(asked.err).toContain("ssh-keygen -R")
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
        const deep = yield* runCli({ url }, ["server", "add", "deep"])
        expect(deep.err.replaceAll(/\s+/g, " ")).toContain("jump attic (")
        yield* runCli({ url }, ["server", "add", "given", "deb@127.0.0.9", "--jump", "ann@a.invalid:2222,b"])
        yield* runCli({ url }, ["server", "add", "direct", "deep", "--jump", ""])
        expect(JSON.parse((yield* runCli({ url }, ["server", "list", "--json"])).out).slice(1)).toEqual([
          expect.objectContaining({ name: "deep", host: "127.0.0.9", jump: "attic" }),
          expect.objectContaining({ name: "given", jump: "ann@a.invalid:2222,b" }),
          expect.not.objectContaining({ jump: expect.anything() })
        ])
        expect((yield* runCli({ url }, ["server", "list"])).out).toMatch(/THROUGH[^]*ann@a.invalid:2222,b/)
        // Jump hosts of the command line win over a ProxyCommand and an unreadable ProxyJump.
        for (const name of ["far", "unread"]) {
          for (const jump of ["", "ann@a.invalid"]) {
            const added = yield* runCli({ url }, ["server", "add", `${name}-${jump}`, `deb@${name}`, "--jump", jump])
            expect([name, jump, added.code]).toEqual([name, jump, 0])
          }
        }
        const unread = yield* runCli({ url }, ["server", "add", "unread", "deb@unread"])
        expect([unread.code, unread.err.replaceAll(/\s+/g, " ")]).toEqual([
          1,
          expect.stringMatching(/ProxyJump of "unread" .*config:13: %x must be .*Nothing was stored/)
        ])
        // A replaced server is reached through its own jump hosts, which are named when they do not answer.
        yield* runCli({ url }, ["server", "add", "Inner", "attic", "--id", "inner", "--jump", "u@127.0.0.1:1"])
        const moved = yield* runCli({ url }, ["server", "add", "Inner", "attic", "--id", "inner"])
        expect(moved.err.replaceAll(/\s+/g, " ")).toContain(
          "was not compared. Cannot reach server \"Inner\" at " +
            `${host}:${port}: its jump host u@127.0.0.1:1 cannot be used: connection refused`
        )
        // The options of a test take the place of what is stored.
        const reached = (...args: ReadonlyArray<string>) =>
          Effect.map(runCli({ url }, ["server", "test", "Inner", "--json", ...args]), ({ out }) => JSON.parse(out))
        expect((yield* reached()).hostKey).toBe(null)
        expect((yield* reached("--jump", "")).hostKey).toMatchObject({ fingerprint: shown.fingerprint })
        expect((yield* reached("--jump", "", "--port", "1")).hostKey).toBe(null)
        expect((yield* reached("--jump", "", "--key", "/nowhere/key")).logIn.detail).toContain("/nowhere/key")
        expect((yield* reached("--jump", "", "--sudo")).sudo.detail).not.toContain("without sudo")
        const half = yield* runCli({ url }, ["server", "add", "half", "deb@127.0.0.9", "--replaces-host-key", other])
        expect([half.code, half.err]).toEqual([64, expect.stringContaining("--replaces-host-key needs --host-key")])
        const odd = yield* runCli({ url }, ["server", "add", "odd", "deb@127.0.0.9", "--jump", "nc -x proxy"])
        expect([odd.code, odd.err]).not.toEqual([0, ""])
        expect(odd.err.replaceAll(/\s+/g, " ")).toContain("must be [user@]host[:port]")
      }),
    60_000 * patience
  )

  it.scopedLive(
    "is never pinned by a key that nobody compared, and refused by one that is revoked, also on a terminal",
    () =>
      Effect.gen(function*() {
        const { server: { host, port }, settingsFile } = yield* makeWorld
        plant("config", "")
        plant("known_hosts", "")
        const key = yield* shownKey(host, port)
        const added = (name: string) =>
          runCli({ settingsFile }, ["server", "add", name, `ann@${host}:${port}`, "--agent"], {
            answers: [true],
            columns: 200
          })
        yield* runCli({ settingsFile }, ["ps"])
        const remembered = yield* added("Remembered")
        expect([remembered.code, remembered.err]).toEqual([0, expect.stringContaining("Stored Remembered with the id")])
        expect(remembered.err).not.toContain("[y/N]")
        expect(readFileSync(settingsFile, "utf8")).not.toContain("hostKey")

        plant("known_hosts", `@revoked [${host}]:${port} ecdsa-sha2-nistp256 ${key}\n`)
        const before = readFileSync(settingsFile, "utf8")
        const revoked = yield* added("Revoked")
        expect([revoked.code, revoked.err.replaceAll(/\s+/g, " ")]).toEqual([
          1,
          expect.stringMatching(
            /marks as revoked\. Nothing was sent\. Give the server another host key\. Nothing was stored/
          )
        ])
        expect(readFileSync(settingsFile, "utf8")).toBe(before)
      }).pipe(Effect.provide(NodeContext.layer)),
    60_000 * patience
  )
})
