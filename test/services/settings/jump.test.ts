import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { mkdtempSync } from "node:fs"
import { mkdir, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { JumpList, ServerInput } from "../../../src/schema/servers.ts"
import { type ServerAccess } from "../../../src/schema/ssh.ts"
import { SshClient } from "../../../src/services/sshClient/clientConfig.ts"
import { localSettings, settingsWorkshop } from "../../fixtures/settingsIn.ts"

const bastion = "servers:\n  - { id: b, name: Bastion, host: b.invalid, port: 2222, username: deb, password: of-b }\n"
const inner = { name: "Inner", host: "10.0.0.5", username: "ann", password: Redacted.make("of-inner") }

/** The hops to a server, the nearest first. */
const hops = (via: ServerAccess | undefined): ReadonlyArray<ServerAccess> =>
  via === undefined ? [] : [...hops(via.via), via]

const inHome = (config: string, ...keys: ReadonlyArray<string>) => {
  const home = mkdtempSync(join(tmpdir(), "berth-jump-"))
  const directory = join(home, ".ssh")
  return Effect.provideServiceEffect(
    SshClient,
    Effect.promise(async () => {
      await mkdir(directory)
      await writeFile(join(directory, "config"), config, { mode: 0o600 })
      for (const key of keys) await writeFile(join(directory, key), "", { mode: 0o600 })
      return { home, directory, user: "me" }
    })
  )
}

describe("the jump hosts of a server", () => {
  it.scoped("are stored, stay where they are not mentioned, and are cleared by null", () =>
    Effect.gen(function*() {
      const { read, settings } = yield* settingsWorkshop(bastion)
      const { id } = yield* settings.saveServer({ ...inner, jump: "deb@b.invalid:2222" })
      expect(yield* read).toContain("jump: \"deb@b.invalid:2222\"")
      const passwordOf = Effect.map(settings.server(id), ({ credentials: { password } }) =>
        password === undefined ? undefined : Redacted.value(password))
      const shown = Effect.map(settings.servers, (all) =>
        all.find((server) => server.id === id)?.jump)
      const { password: _, ...same } = { ...inner, id }
      expect(yield* settings.saveServer(same)).toMatchObject({ id, jump: "deb@b.invalid:2222" })
      expect([yield* shown, yield* passwordOf]).toEqual(["deb@b.invalid:2222", "of-inner"])
      yield* settings.saveServer({ ...same, jump: "deb@b.invalid:2222" })
      expect(yield* passwordOf).toBe("of-inner")
      // The same address behind another jump host may be another machine.
      yield* settings.saveServer({ ...same, jump: "c.invalid" })
      expect([yield* shown, yield* passwordOf]).toEqual(["c.invalid", undefined])
      yield* settings.saveServer({ ...same, jump: null, password: inner.password })
      expect([yield* shown, yield* passwordOf]).toEqual([undefined, "of-inner"])
      expect((yield* settings.server(id)).via).toBe(undefined)
    }).pipe(inHome(""), Effect.provide(localSettings)))

  it.scoped("are cleared by null also where their reference leads nowhere, and then are no other's", () =>
    Effect.gen(function*() {
      const { read, settings } = yield* settingsWorkshop(
        `${bastion}  - { id: i, name: I, host: i, username: u, jump: "\${env:BERTH_NO_JUMP}", password: p }\n`
      )
      const input = { id: "i", name: "I", host: "i", username: "u" }
      expect(yield* settings.saveServer(input)).toMatchObject({ jump: "${env:BERTH_NO_JUMP}" })
      expect(yield* read).toContain("password: p")
      const stored = yield* settings.storedServer("i")
      expect(stored.server.credentials.password).toBeDefined()
      expect((yield* Effect.flip(stored.via)).message).toContain("BERTH_NO_JUMP")
      expect(yield* settings.saveServer({ ...input, jump: null })).not.toHaveProperty("jump")
      expect(yield* read).not.toMatch(/BERTH_NO_JUMP|password: p/)
      expect((yield* settings.server("i")).via).toBe(undefined)
    }).pipe(inHome(""), Effect.provide(localSettings)))

  it.each([["", null], ["  ", null], [" a , b ", "a , b"], ["a", "a"]])("are read from %j", (text, jump) => {
    expect(Schema.decodeSync(JumpList)(text)).toBe(jump)
    expect(Schema.decodeSync(ServerInput)({ name: "n", host: "h", username: "u", jump: text }).jump).toBe(jump)
  })

  it.scoped("send the credentials of a stored server only on its own route", () =>
    Effect.gen(function*() {
      const at = (id: string, jump: string) =>
        `  - { id: ${id}, name: ${id}, host: 10.0.0.5, username: ann, password: of-${id}${jump} }\n`
      const { settings } = yield* settingsWorkshop(
        bastion + at("beside", ", jump: \"c.invalid\"") + at("direct", "") + at("inside", ", jump: \"attic\"")
      )
      const passwordOver = (jump: string) =>
        Effect.map(settings.jumpRoute(jump), ({ credentials: { password } }) =>
          password === undefined ? undefined : Redacted.value(password))
      expect(yield* passwordOver("ann@10.0.0.5")).toBe("of-direct")
      expect(yield* passwordOver("deb@b.invalid:2222,ann@10.0.0.5")).toBe("of-inside")
      expect(yield* passwordOver("c.invalid,ann@10.0.0.5")).toBe("of-beside")
      expect(yield* passwordOver("d.invalid,ann@10.0.0.5")).toBe(undefined)
      expect(yield* passwordOver("c.invalid,d.invalid,ann@10.0.0.5")).toBe(undefined)
    }).pipe(inHome("Host attic\n  HostName b.invalid\n  Port 2222\n"), Effect.provide(localSettings)))

  it.scoped("log in as the stored server of their address, or as the SSH client would", () =>
    Effect.gen(function*() {
      const { settings } = yield* settingsWorkshop(bastion)
      const { id } = yield* settings.saveServer({ ...inner, jump: "b.invalid:2222, attic ,cat@[::1]:7" })
      const [stored, attic, plain] = hops((yield* settings.server(id)).via)
      expect(stored).toMatchObject({ name: "deb@b.invalid:2222", username: "deb" })
      expect(Redacted.value(stored?.credentials.password ?? Redacted.make(""))).toBe("of-b")
      expect(attic).toMatchObject({
        host: "attic.invalid",
        port: 2200,
        username: "amy",
        credentials: { agent: true, privateKey: expect.stringMatching(/\/attic$/) }
      })
      expect(plain).toMatchObject({
        host: "::1",
        port: 7,
        username: "cat",
        credentials: { agent: true, privateKey: expect.stringMatching(/\/id_ecdsa$/) }
      })
    }).pipe(
      inHome(
        "Host attic\n  HostName attic.invalid\n  Port 2200\n  User amy\n  IdentityFile ~/.ssh/attic\n" +
          "  ProxyJump not-this\n",
        "attic",
        "id_ecdsa"
      ),
      Effect.provide(localSettings)
    ))

  it.scoped("have jump hosts of their own where they are the first", () =>
    Effect.gen(function*() {
      const { settings, write } = yield* settingsWorkshop(bastion)
      const { id } = yield* settings.saveServer({ ...inner, jump: "attic,cellar" })
      expect(hops((yield* settings.server(id)).via).map(({ host }) => host)).toEqual(["b.invalid", "attic", "cellar"])
      yield* write(
        bastion.replace("password: of-b", "jump: attic") + "  - { id: i, name: I, host: i, username: u, jump: attic }\n"
      )
      const circle = yield* Effect.flip(settings.server("i"))
      expect(circle.message).toMatch(/berth\.yaml:3.*servers\[1\]\.jump leads through more than 8 jump hosts/)
    }).pipe(
      inHome("Host attic\n  ProxyJump deb@b.invalid:2222\nHost cellar\n  ProxyCommand nc %h %p\n"),
      Effect.provide(localSettings)
    ))

  it.scoped.each<readonly [jump: string, says: RegExp]>([
    ["gate", /leads through "gate", which ~\/\.ssh\/config reaches with a ProxyCommand/],
    ["nc -X 5 %h", /servers\[0\]\.jump must be \[user@\]host\[:port\]/],
    ["odd", /leads through "odd", whose ProxyJump cannot be used: .*config:4: %x must be \[user@\]host/],
    ["a:0", /must be \[user@\]host/],
    [Array.from({ length: 9 }, () => "a").join(","), /up to 8/]
  ])("are refused where they cannot be used: %s", ([jump, says]) =>
    Effect.gen(function*() {
      const { settings } = yield* settingsWorkshop(
        `servers:\n  - { id: i, name: I, host: i, username: u, jump: "${jump}" }\n`
      )
      expect((yield* Effect.flip(settings.server("i"))).message).toMatch(says)
    }).pipe(inHome("Host gate\n  ProxyCommand nc %h %p\nHost odd\n  ProxyJump %x\n"), Effect.provide(localSettings)))
})
