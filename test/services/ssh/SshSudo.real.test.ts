import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Stream } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Ssh } from "../../../src/services/ssh/Ssh.ts"
import { leftovers, realSsh, RealSshd } from "../../fixtures/network/openssh.ts"
import type { SshUser } from "../../fixtures/network/openssh.ts"
import { command, liveSsh } from "./live.ts"

const root = (script: string, stdin?: string | Uint8Array) =>
  command(script, { sudo: true, ...stdin === undefined ? {} : { stdin } })

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

const withSudoPassword = (user: SshUser, sudoPassword: string) =>
  user.access({ password: Redacted.make(user.password), sudoPassword: Redacted.make(sudoPassword) })

/** The programs whose command line or environment holds a text. */
const processesWith = (text: string, where: "cmdline" | "environ") =>
  readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((pid) => {
    try {
      const held = readFileSync(`/proc/${pid}/${where}`, "utf8").includes(text)
      return held ? [readFileSync(`/proc/${pid}/comm`, "utf8").trim()] : []
    } catch {
      return []
    }
  })

describe.skipIf(!realSsh.available)(realSsh.title("SshLive through a real sudo"), () => {
  layer(Layer.merge(RealSshd.layer(), liveSsh()), { excludeTestServices: true })((it) => {
    for (const policy of ["nopasswd", "password", "cached", "lecture"] as const) {
      it.scoped(`runs as root under the policy "${policy}"`, () =>
        Effect.gen(function*() {
          const user = yield* (yield* RealSshd).makeUser({ sudo: policy })
          const { exec } = yield* Ssh
          const script = "as_root id -un; id -un; as_root sh -c 'cat; echo wrong >&2; exit 3'"
          expect(yield* exec(user.access(), root(script, "in\n"))).toEqual({
            code: 3,
            stdout: `root\n${user.name}\nin\n`,
            stderr: "wrong\n"
          })
          expect(yield* leftovers(user)).toEqual([])
        }))

      it.scoped(`carries bytes through exactly under the policy "${policy}"`, () =>
        Effect.gen(function*() {
          const user = yield* (yield* RealSshd).makeUser({ sudo: policy })
          const bytes = Buffer.concat([Buffer.from("\n\0first\r\n"), randomBytes(1024 * 1024)])
          const { exec } = yield* Ssh
          const exit = yield* exec(user.access(), root("as_root tee \"$HOME/copy\" | sha256sum"), {
            stdin: Stream.make(bytes.subarray(0, 5), bytes.subarray(5))
          })
          expect(exit.stdout.slice(0, 64)).toBe(sha256(bytes))
          const copy = yield* exec(user.access(), root("as_root stat -c '%U %s' \"$HOME/copy\""))
          expect(copy.stdout).toBe(`root ${bytes.length}\n`)
        }))
    }

    for (const policy of ["none", "password", "cached", "lecture"] as const) {
      it.scoped(`tells a wrong password after one attempt under the policy "${policy}"`, () =>
        Effect.gen(function*() {
          const user = yield* (yield* RealSshd).makeUser({ sudo: policy })
          const { exec } = yield* Ssh
          const error = yield* exec(withSudoPassword(user, "wrong"), root("as_root id")).pipe(
            Effect.flip,
            Effect.timeout("8 seconds")
          )
          expect(error).toMatchObject({ _tag: "SudoRefused", server: "Test", words: "1 incorrect password attempt" })
          expect(error.message).toContain("Correct the sudoPassword")
          expect(yield* leftovers(user)).toEqual([])
        }))
    }

    it.scoped("says what to allow where the user may not use sudo", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const error = yield* Effect.flip((yield* Ssh).exec(user.access(), root("as_root id")))
        expect(error).toMatchObject({ _tag: "SudoRefused", words: `${user.name} is not in the sudoers file` })
      }))

    it.scoped("says at once that a password is needed and none is stored", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser({ sudo: "password" })
        const privateKey = yield* user.makeKey()
        const error = yield* Effect.flip((yield* Ssh).exec(user.access({ privateKey }), root("as_root id")))
        expect(error).toMatchObject({ _tag: "SudoRefused", words: "a password is required" })
        expect(error.message).toContain("Store a sudoPassword")
      }))

    it.scoped("needs no stored password where sudo wants none", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser({ sudo: "nopasswd" })
        const privateKey = yield* user.makeKey()
        const exit = yield* (yield* Ssh).exec(user.access({ privateKey }), root("as_root cat", "in"))
        expect(exit).toEqual({ code: 0, stdout: "in", stderr: "" })
      }))

    it.scoped("refuses a stored password that would be two lines", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser({ sudo: "password" })
        const error = yield* Effect.flip((yield* Ssh).exec(withSudoPassword(user, "a\nb"), root("as_root id")))
        expect(error).toMatchObject({ _tag: "SudoRefused", words: "the stored password holds a line break or NUL" })
      }))

    it.scoped("shows the password in no command line, and in no environment but sudo's", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser({ sudo: "password" })
        const { spawn } = yield* Ssh
        const { stdout } = yield* spawn(user.access(), root("as_root sh -c 'echo running; cat >/dev/null'; :"))
        expect(yield* Stream.runHead(Stream.decodeText(stdout))).toMatchObject({ value: "running\n" })
        expect(processesWith(user.password, "cmdline")).toEqual([])
        expect(processesWith(user.password, "environ").filter((name) => name !== "sudo")).toEqual([])
        // The program that told it is gone while the command still runs.
        const [directory] = yield* leftovers(user)
        expect(readdirSync(join(user.home, directory ?? ""))).toEqual([])
      }))

    it.scoped("keeps bash as a login shell and a user in another group working", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser({ sudo: "password", shell: "/bin/bash", groups: ["docker"] })
        const { exec } = yield* Ssh
        const exit = yield* exec(user.access(), root("id -Gn; as_root id -un"))
        expect(exit.stdout).toBe(`${user.name} docker\nroot\n`)
        expect((yield* exec(user.access(), command("as_root id -un"))).stdout).toBe(`${user.name}\n`)
      }))

    it.scoped("leaves stderr and exit code of a spawned command to its reader", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser({ sudo: "password" })
        const { spawn } = yield* Ssh
        const { exit, stdout } = yield* spawn(user.access(), root("as_root sh -c 'echo held; cat >/dev/null'"))
        expect(yield* Stream.runHead(Stream.decodeText(stdout))).toMatchObject({ value: "held\n" })
        expect(yield* Effect.timeoutOption(exit, "100 millis")).toMatchObject({ _tag: "None" })
      }))
  })
})
