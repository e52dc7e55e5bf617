import { describe, expect, it } from "@effect/vitest"
import { Effect, Either, Layer, Option, Redacted } from "effect"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { logs } from "../../../src/pipelines/servers/logs.ts"
import type { ServerAccess } from "../../../src/schema/ssh.ts"
import { computeFingerprint } from "../../../src/services/HostKeys.ts"
import { FirstContact, FirstContactLive } from "../../../src/services/ssh/FirstContact.ts"
import { Ssh } from "../../../src/services/ssh/Ssh.ts"
import { SshClient } from "../../../src/services/sshClient/clientConfig.ts"
import { hostKeysTest } from "../../../src/testing/SshTest.ts"
import { berth, project, realServer } from "../../fixtures/docker/realProject.ts"
import { realSsh, type Sshd, startSshd } from "../../fixtures/network/openssh.ts"
import { patience } from "../../fixtures/patience.ts"
import { command, eventually, liveSsh } from "./live.ts"

const accepted = ({ log }: Sshd) => Effect.map(log, (text) => text.match(/Accepted password for/g)?.length ?? 0)
const lineOf = ({ hostKey, port }: Sshd) => Effect.map(hostKey(), (key) => `[127.0.0.1]:${port} ${key}\n`)

/** A server behind a jump host, each with a real sshd. */
const behindJump = Effect.gen(function*() {
  const bastion = yield* startSshd()
  const inner = yield* startSshd()
  const jumper = yield* bastion.makeUser()
  const user = yield* inner.makeUser({ groups: ["docker"] })
  const via = jumper.access(undefined, { name: `${jumper.name}@127.0.0.1:${bastion.port}` })
  const server = user.access(undefined, { name: "Main", via })
  return { bastion, inner, jumper, user, via, server }
})

const said = (server: ServerAccess, script: string) =>
  Effect.flatMap(Ssh, (ssh) => Effect.map(ssh.exec(server, command(script)), ({ stdout }) => stdout.trim()))

describe.skipIf(!realSsh.available)(
  realSsh.title("a server behind a jump host"),
  { timeout: 60_000 * patience },
  () => {
    it.scopedLive("is reached over one connection to the jump host, whatever is done on however many servers", () =>
      Effect.gen(function*() {
        const { bastion, inner, server, user } = yield* behindJump
        const another = yield* inner.makeUser()
        yield* Effect.gen(function*() {
          const all = yield* Effect.all([
            said(server, "id -un"),
            said(another.access(undefined, { via: server.via ?? server }), "id -un"),
            Effect.flatMap(Ssh, (ssh) =>
              Effect.map(
                ssh.exec(server, command("echo followed", { pool: "followers" })),
                ({ stdout }) => stdout.trim()
              ))
          ], { concurrency: "unbounded" })
          expect(all).toEqual([user.name, another.name, "followed"])
          expect([yield* accepted(bastion), yield* accepted(inner)]).toEqual([1, 3])
        }).pipe(Effect.provide(liveSsh()))
        yield* eventually(bastion.children, (left) => left.length === 0)
      }))

    it.scopedLive("is reached through several, each over the one before it", () =>
      Effect.gen(function*() {
        const { bastion, inner, server, via } = yield* behindJump
        const middle = yield* startSshd({ config: [`PermitOpen 127.0.0.1:${inner.port}`] })
        const between = (yield* middle.makeUser()).access(undefined, { name: "between", via })
        yield* Effect.gen(function*() {
          expect(yield* said({ ...server, via: between }, "echo through")).toBe("through")
          expect([yield* accepted(bastion), yield* accepted(middle), yield* accepted(inner)]).toEqual([1, 1, 1])
          const { port } = yield* startSshd()
          const elsewhere = yield* Effect.flip(said({ ...server, port, via: between }, "true"))
          expect(elsewhere.message).toMatch(
            /^Cannot reach server "Main" .*the jump host between could not connect to it/
          )
        }).pipe(Effect.provide(liveSsh()))
      }))

    it.scopedLive("is not reached through a jump host whose key has changed, and nothing is sent to that", () =>
      Effect.gen(function*() {
        const { bastion, inner, server } = yield* behindJump
        const [, , key = ""] = (yield* lineOf(inner)).split(" ")
        const stale = `[127.0.0.1]:${bastion.port} ssh-ed25519 ${key}\n`
        const refused = yield* Effect.flip(said(server, "true").pipe(Effect.provide(liveSsh(stale))))
        expect(refused).toMatchObject({ _tag: "HostKeyChanged", server: "jump host of Main", port: bastion.port })
        expect([yield* accepted(bastion), yield* accepted(inner)]).toEqual([0, 0])
        expect(yield* bastion.log).not.toMatch(/Failed password/)
        // So it is where Berth meets it for the first time, and known_hosts has another key.
        const directory = join(bastion.directory, "client")
        yield* Effect.promise(async () => {
          await mkdir(directory)
          await writeFile(join(directory, "known_hosts"), stale, { mode: 0o600 })
        })
        const client = Layer.succeed(SshClient, { home: directory, directory, user: "me" })
        const other = yield* Effect.flip(said(server, "true").pipe(Effect.provide(Layer.provide(liveSsh(), client))))
        expect(other).toMatchObject({ _tag: "HostKeyChanged", server: "jump host of Main", port: bastion.port })
        expect(yield* accepted(bastion)).toBe(0)
      }))

    it.scopedLive("is not reached through one with another key than the settings require, and nothing is sent to that", () =>
      Effect.gen(function*() {
        const { bastion, inner, server, via } = yield* behindJump
        const [, , key = ""] = (yield* lineOf(inner)).split(" ")
        const hostKey = computeFingerprint(Buffer.from(key, "base64"))
        yield* Effect.gen(function*() {
          const refused = yield* Effect.flip(said({ ...server, via: { ...via, hostKey } }, "true"))
          expect(refused).toMatchObject({ _tag: "HostKeyChanged", server: "jump host of Main", isRequired: true })
          expect([yield* accepted(bastion), yield* accepted(inner)]).toEqual([0, 0])
          expect(yield* bastion.log).not.toMatch(/Failed password/)
          expect(yield* said({ ...server, hostKey, via }, "echo through")).toBe("through")
        }).pipe(Effect.provide(liveSsh()))
      }))

    it.scopedLive("is reached through one that known_hosts has under one of its key types, and refused under none", () =>
      Effect.gen(function*() {
        const bastion = yield* startSshd({ hostKeys: ["ed25519", "ecdsa", "rsa"] })
        const inner = yield* startSshd()
        const via = (yield* bastion.makeUser()).access()
        const server = (yield* inner.makeUser()).access(undefined, { name: "Main", via })
        const home = join(bastion.directory, "client")
        const file = join(home, "known_hosts")
        yield* Effect.promise(() => mkdir(home))
        const knowing = (key: string) =>
          Effect.promise(() => writeFile(file, `[127.0.0.1]:${bastion.port} ${key}\n`, { mode: 0o600 }))
        const client = Layer.succeed(SshClient, { home, directory: home, user: "me" })
        const over = () => said(server, "echo through").pipe(Effect.provide(Layer.provide(liveSsh(), client)))
        for (const type of ["ed25519", "ecdsa", "rsa"] as const) {
          yield* knowing(yield* bastion.hostKey(type))
          expect([type, yield* over()]).toEqual([type, "through"])
        }
        const before = yield* accepted(bastion)
        const other = (yield* inner.hostKey()).split(" ")[1] ?? ""
        yield* knowing(`ecdsa-sha2-nistp256 ${other}`)
        const refused = yield* Effect.flip(over())
        expect(refused.message).toMatch(
          new RegExp(`"jump host of Main".*, and ${file} has .* ssh-keygen -R "\\[127\\.0\\.0\\.1\\]:${bastion.port}"$`)
        )
        const [type = "", key = ""] = (yield* bastion.hostKey()).split(" ")
        yield* Effect.promise(() =>
          writeFile(file, `@revoked [127.0.0.1]:${bastion.port} ${type} ${key}\n`, { mode: 0o600 })
        )
        expect((yield* Effect.flip(over())).message).toContain(`which ${file} marks as revoked`)
        expect(yield* accepted(bastion)).toBe(before)
      }))

    it.scopedLive("says which jump host is away, refuses the log-in, or was lost, and comes back with it", () =>
      Effect.gen(function*() {
        const { bastion, server, via } = yield* behindJump
        yield* Effect.gen(function*() {
          const wrong = { ...via, credentials: { password: Redacted.make("wrong") } }
          const denied = yield* Effect.flip(said({ ...server, via: wrong }, "true"))
          expect(denied).toMatchObject({ _tag: "AuthenticationFailed", server: "jump host of Main" })
          expect(yield* said(server, "echo there")).toBe("there")
          const cut = yield* Effect.fork(Effect.flip(said(server, "sleep 30")))
          yield* Effect.sleep("300 millis")
          yield* bastion.kill
          expect((yield* cut).message).toMatch(
            new RegExp(`^The connection to "Main" .*through the jump host ${via.name}`)
          )
          const away = yield* Effect.flip(said(server, "true"))
          expect(away.message).toBe(
            `Cannot reach server "Main" at 127.0.0.1:${server.port}: its jump host ${via.name} cannot be used: connection refused`
          )
          yield* bastion.restart
          expect(yield* said(server, "echo back")).toBe("back")
        }).pipe(Effect.provide(liveSsh()))
      }))

    it.scopedLive("is tried only through a jump host whose key is known", () =>
      Effect.gen(function*() {
        const { bastion, inner, server } = yield* behindJump
        const meet = (known: string) =>
          Effect.flatMap(FirstContact, (contact) => contact.meet(server, Option.none())).pipe(
            Effect.provide(FirstContactLive),
            Effect.provide(hostKeysTest(known))
          )
        const unknown = yield* meet(yield* lineOf(inner))
        expect(unknown.key).toEqual(Option.none())
        const [, key = ""] = (yield* bastion.hostKey()).split(" ")
        const why = Either.isLeft(unknown.session) && "message" in unknown.session.left
          ? unknown.session.left.message
          : ""
        expect(why).toContain(`nobody has confirmed its host key ${computeFingerprint(Buffer.from(key, "base64"))}`)
        expect(yield* accepted(bastion)).toBe(0)
        // A key of the same address without the jump host may be another machine's: credentials belong to the route.
        const routed = (yield* lineOf(inner)).replace(" ", `@[127.0.0.1]:${bastion.port} `)
        const direct = yield* meet(`${yield* lineOf(inner)}${yield* lineOf(bastion)}`)
        expect(Option.getOrUndefined(direct.key)).toMatchObject({
          standing: "changed",
          route: Option.some({ remembered: "directly", now: `through [127.0.0.1]:${bastion.port}` })
        })
        expect(Either.isLeft(direct.session)).toBe(true)
        const known = yield* meet(`${routed}${yield* lineOf(bastion)}`)
        expect(Option.getOrUndefined(known.key)).toMatchObject({ standing: "known" })
        expect(Either.isRight(known.session)).toBe(true)
      }))
  }
)

describe.skipIf(!realServer.available)(
  realServer.title("a stack behind a jump host"),
  { timeout: 120_000 * patience },
  () => {
    it.scopedLive("is deployed and shows its logs", () =>
      Effect.gen(function*() {
        const { bastion, inner, user, via } = yield* behindJump
        // The jump host's credentials are those of the stored server with its address.
        const server = user.access(undefined, { name: "Main", jump: via.name })
        const { answer, build, directory, name } = yield* project
        const remotePath = `~/containers/${name}`
        yield* build("from afar")
        yield* Effect.gen(function*() {
          const done = yield* deploy({ projectPath: directory, serverId: server.id, remotePath })
          expect(done).toMatchObject({ success: true, healthy: true })
          expect(yield* answer).toBe("from afar")
          expect(yield* logs(server.id, { remotePath })).toEqual(expect.any(String))
          expect(yield* accepted(bastion)).toBe(1)
          expect(yield* accepted(inner)).toBeGreaterThan(0)
        }).pipe(Effect.provide(berth(server, {}, [{ ...via, id: "bastion" }])))
      }))
  }
)
