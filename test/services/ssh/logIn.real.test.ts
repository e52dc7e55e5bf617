import { describe, expect, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import { readFileSync } from "node:fs"
import type { Credentials, ServerAccess } from "../../../src/schema/ssh.ts"
import { Ssh } from "../../../src/services/ssh/Ssh.ts"
import { realSsh, RealSshd, run, type SshUser } from "../../fixtures/network/openssh.ts"
import { patience } from "../../fixtures/patience.ts"
import { command, eventually, liveSsh } from "./live.ts"

const occurrences = (text: string, part: string | RegExp) => text.split(part).length - 1

const printed = (file: string) => Effect.map(run("ssh-keygen", ["-lf", file]), (text) => text.split(" ")[1] ?? "")

const logIn = (server: ServerAccess) => Effect.flatMap(Ssh, ({ exec }) => exec(server, command("id -un")))

const refused = (server: ServerAccess) => Effect.timeout(Effect.flip(logIn(server)), "20 seconds")

const passwordOf = (user: SshUser): Credentials => ({ password: Redacted.make(user.password) })

const withAgent = (socket: string) =>
  Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["SSH_AUTH_SOCK", socket]])))

describe.skipIf(!realSsh.available)(realSsh.title("logging in to a real sshd"), () => {
  layer(Layer.merge(RealSshd.layer(), liveSsh()), { excludeTestServices: true })((it) => {
    it.scoped("takes a password, or a private key, or the agent's", () =>
      Effect.gen(function*() {
        const sshd = yield* RealSshd
        const user = yield* sshd.makeUser()
        const name = `${user.name}\n`
        expect((yield* logIn(user.access())).stdout).toBe(name)
        const privateKey = yield* user.makeKey()
        expect((yield* logIn(user.access({ privateKey }))).stdout).toBe(name)
        const socket = yield* sshd.agentWith(privateKey)
        expect((yield* withAgent(socket)(logIn(user.access({ agent: true })))).stdout).toBe(name)
        const log = yield* sshd.log
        expect(occurrences(log, `Accepted password for ${user.name}`)).toBe(1)
        expect(occurrences(log, `Accepted publickey for ${user.name}`)).toBe(2)
      }))

    for (const type of ["ed25519", "rsa", "ecdsa"]) {
      it.scoped(`takes an ${type} key with its passphrase`, () =>
        Effect.gen(function*() {
          const user = yield* (yield* RealSshd).makeUser()
          const privateKey = yield* user.makeKey({ passphrase: "a phrase", type })
          const passphrase = Redacted.make("a phrase")
          expect((yield* logIn(user.access({ privateKey, passphrase }))).stdout).toBe(`${user.name}\n`)
          const error = yield* refused(user.access({ privateKey, passphrase: Redacted.make("secret guess") }))
          expect(error._tag).toBe("AuthenticationFailed")
          expect(error.message).toContain(`the private key ${privateKey} cannot be used`)
          expect(error.message).not.toContain("secret guess")
        }))
    }

    it.scoped("tries a wrong password once", () =>
      Effect.gen(function*() {
        const sshd = yield* RealSshd
        const user = yield* sshd.makeUser()
        const error = yield* refused(user.access({ password: Redacted.make("secret guess") }))
        expect(error).toMatchObject({
          _tag: "AuthenticationFailed",
          server: "Test",
          username: user.name,
          tried: ["password"]
        })
        expect(error.message).toContain("the server refused password")
        expect(error.message).not.toContain("secret guess")
        const log = yield* eventually(sshd.log, (log) =>
          log.includes(`Connection closed by authenticating user ${user.name}`))
        expect(occurrences(log, `Failed password for ${user.name}`)).toBe(1)
      }))

    it.scoped("shares one attempt between callers that come at once, and makes a new one later", () =>
      Effect.gen(function*() {
        const sshd = yield* RealSshd
        const user = yield* sshd.makeUser()
        const wrong = user.access({ password: Redacted.make("wrong") })
        const errors = yield* Effect.forEach([1, 2, 3, 4], () => refused(wrong), { concurrency: 4 })
        expect(errors.map((error) => error._tag)).toEqual(errors.map(() => "AuthenticationFailed"))
        expect(occurrences(yield* sshd.log, `Failed password for ${user.name}`)).toBe(1)
        yield* refused(wrong)
        expect(occurrences(yield* sshd.log, `Failed password for ${user.name}`)).toBe(2)
      }))

    it.scoped("takes the key of a public key file from the agent, and offers no other one of it", () =>
      Effect.gen(function*() {
        const sshd = yield* RealSshd
        const [user, other] = [yield* sshd.makeUser(), yield* sshd.makeUser()]
        const [own, others] = [
          yield* user.makeKey(),
          yield* Effect.all(Array.from({ length: 7 }, () => other.makeKey()))
        ]
        const socket = yield* sshd.agentWith(...others, own)
        const login = (credentials: Credentials) => withAgent(socket)(logIn(user.access(credentials)))
        expect((yield* login({ privateKey: `${own}.pub` })).stdout).toBe(`${user.name}\n`)
        // The named key comes first, also where the agent has more than the server bears.
        expect((yield* login({ privateKey: own, agent: true })).stdout).toBe(`${user.name}\n`)
        const crowded = yield* Effect.flip(login({ agent: true }))
        expect(crowded).toMatchObject({ _tag: "AuthenticationFailed" })
        expect(crowded.message).toContain("MaxAuthTries")
        const absent = yield* user.makeKey()
        const missing = yield* Effect.flip(login({ privateKey: `${absent}.pub` }))
        expect(missing.message).toContain(`the key of ${absent}.pub cannot be used: the agent at`)
        expect(missing.message).toContain("does not have it")
      }))

    it.scoped("says why a stored credential was not used", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        expect((yield* refused(user.access({}))).message).toContain("no credential is stored")
        const missing = yield* refused(user.access({ privateKey: "/nonexistent/key" }))
        expect(missing.message).toContain("the key file /nonexistent/key does not exist")
        const unset = yield* Effect.withConfigProvider(ConfigProvider.fromMap(new Map()))(
          refused(user.access({ agent: true }))
        )
        expect(unset.message).toContain("SSH_AUTH_SOCK is not set")
        const gone = yield* withAgent("/nonexistent/agent")(
          refused(user.access({ agent: true, passphrase: Redacted.make("x") }))
        )
        expect(gone._tag).toBe("AuthenticationFailed")
        expect(gone.message).toContain("/nonexistent/agent")
      }))

    it.scoped("goes on to the password where the key is not accepted", () =>
      Effect.gen(function*() {
        const sshd = yield* RealSshd
        const [user, other] = [yield* sshd.makeUser(), yield* sshd.makeUser()]
        const privateKey = yield* other.makeKey()
        expect((yield* logIn(user.access({ privateKey, ...passwordOf(user) }))).stdout).toBe(`${user.name}\n`)
        const error = yield* refused(user.access({ privateKey, password: Redacted.make("wrong") }))
        expect(error).toMatchObject({ tried: [`the private key ${privateKey}`, "password"] })
      }))
  })

  layer(
    Layer.merge(
      RealSshd.layer({ config: ["PasswordAuthentication no", "KbdInteractiveAuthentication yes"] }),
      liveSsh()
    ),
    { excludeTestServices: true }
  )((it) => {
    it.scoped("answers the one question of a server that takes no plain password", () =>
      Effect.gen(function*() {
        const sshd = yield* RealSshd
        const user = yield* sshd.makeUser()
        expect((yield* logIn(user.access())).stdout).toBe(`${user.name}\n`)
        const error = yield* refused(user.access({ password: Redacted.make("wrong") }))
        expect(error).toMatchObject({ _tag: "AuthenticationFailed", tried: ["keyboard-interactive"] })
        const log = yield* eventually(
          sshd.log,
          (log) => log.includes(`Failed keyboard-interactive/pam for ${user.name}`)
        )
        expect(occurrences(log, `PAM: Authentication failure for ${user.name}`)).toBe(1)
      }))
  })

  layer(Layer.merge(RealSshd.layer({ config: ["PasswordAuthentication no"] }), liveSsh()), {
    excludeTestServices: true
  })(
    (it) => {
      it.scoped("keeps the password from a server that takes only keys", () =>
        Effect.gen(function*() {
          const user = yield* (yield* RealSshd).makeUser()
          const error = yield* refused(user.access())
          expect(error).toMatchObject({ _tag: "AuthenticationFailed", tried: [] })
          expect(error.message).toContain("the server takes only publickey")
        }))
    }
  )

  layer(
    Layer.merge(RealSshd.layer({ config: ["AuthenticationMethods publickey,password"] }), liveSsh()),
    { excludeTestServices: true }
  )((it) => {
    it.scoped("shows both where the server wants both", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const privateKey = yield* user.makeKey()
        expect((yield* logIn(user.access({ privateKey, ...passwordOf(user) }))).stdout).toBe(`${user.name}\n`)
      }))
  })

  layer(RealSshd.layer({ maxStartups: "1:100:2" }), { excludeTestServices: true })((it) => {
    it.scoped("comes again where too many log in at once", () =>
      Effect.gen(function*() {
        const sshd = yield* RealSshd
        const user = yield* sshd.makeUser()
        // As many as six attempts each let in on a machine that is busy with other things too.
        const exits = yield* Effect.forEach(
          [1, 2, 3],
          () => Effect.provide(logIn(user.access()), liveSsh()),
          { concurrency: "unbounded" }
        )
        expect(exits.map((exit) => exit.code)).toEqual(exits.map(() => 0))
        expect(yield* sshd.log).toMatch(/drop connection|MaxStartups/)
      }), 60_000 * patience)
  })

  layer(RealSshd.layer({ hostKeys: ["ed25519", "rsa", "ecdsa"] }), { excludeTestServices: true })((it) => {
    it.scoped("refuses a changed host key before anything is sent", () =>
      Effect.gen(function*() {
        const sshd = yield* RealSshd
        const [user, other] = [yield* sshd.makeUser(), yield* sshd.makeUser()]
        const key = yield* other.makeKey()
        const [type, blob] = readFileSync(`${key}.pub`, "utf8").split(" ")
        const error = yield* Effect.provide(
          refused(user.access()),
          liveSsh(`[127.0.0.1]:${sshd.port} ${type} ${blob}\n`)
        )
        expect(error).toMatchObject({
          _tag: "HostKeyChanged",
          remembered: yield* printed(`${key}.pub`),
          presented: yield* printed(`${sshd.directory}/host_ed25519.pub`),
          file: "known_hosts"
        })
        expect(yield* sshd.log).not.toContain(user.name)
      }))

    it.scoped("asks for the remembered one of several host keys", () =>
      Effect.gen(function*() {
        const sshd = yield* RealSshd
        const user = yield* sshd.makeUser()
        for (const type of ["rsa", "ecdsa", "ed25519"] as const) {
          const known = `[127.0.0.1]:${sshd.port} ${yield* sshd.hostKey(type)}\n`
          expect((yield* Effect.provide(logIn(user.access()), liveSsh(known))).code).toBe(0)
        }
      }))

    it.scoped("takes the host key that the settings require, whatever its type and whatever is remembered", () =>
      Effect.gen(function*() {
        const sshd = yield* RealSshd
        const user = yield* sshd.makeUser()
        const other = yield* (yield* sshd.makeUser()).makeKey()
        const [, blob] = readFileSync(`${other}.pub`, "utf8").split(" ")
        const stale = `[127.0.0.1]:${sshd.port} ssh-ed25519 ${blob}\n`
        for (const type of ["rsa", "ecdsa", "ed25519"] as const) {
          const hostKey = yield* printed(`${sshd.directory}/host_${type}.pub`)
          const server = { ...user.access(), hostKey }
          expect((yield* Effect.provide(logIn(server), liveSsh(stale))).code).toBe(0)
        }
      }))

    it.scoped("refuses any host key but the required one before a credential is sent, also with a remembered key", () =>
      Effect.gen(function*() {
        const sshd = yield* RealSshd
        const user = yield* sshd.makeUser()
        const hostKey = yield* printed(`${yield* (yield* sshd.makeUser()).makeKey()}.pub`)
        const known = `[127.0.0.1]:${sshd.port} ${yield* sshd.hostKey("ed25519")}\n`
        const error = yield* Effect.provide(refused({ ...user.access(), hostKey }), liveSsh(known))
        expect(error).toMatchObject({ _tag: "HostKeyChanged", remembered: hostKey, isRequired: true })
        expect(error.message).toContain(`the settings require ${hostKey}. Nothing was sent`)
        expect(yield* sshd.log).not.toContain(user.name)
      }))
  })
})
