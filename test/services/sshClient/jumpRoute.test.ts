import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { SshClient } from "../../../src/services/sshClient/clientConfig.ts"
import { readSshDefaults } from "../../../src/services/sshClient/jumpRoute.ts"
import { localSettings } from "../../fixtures/settingsIn.ts"
import { temporaryDirectory } from "../../layers/temporary.ts"

const lookUp = (config: string, user: () => string = () => "me") =>
  Effect.gen(function*() {
    const home = yield* temporaryDirectory
    const directory = join(home, ".ssh")
    mkdirSync(directory)
    writeFileSync(join(directory, "config"), config, { mode: 0o600 })
    const client = {
      home,
      directory,
      get user() {
        return user()
      }
    }
    return { directory, ...yield* Effect.provideService(readSshDefaults({ host: "main" }), SshClient, client) }
  }).pipe(Effect.provide(localSettings))

describe("sshDefaults", () => {
  it.scoped.each([
    ["%x.example.com", "unknown token"],
    ["${GATE}", "variable"],
    ["nc -x proxy", "program"],
    ["ssh://gate", "address"],
    ["gate:0", "port"]
  ])(
    "refuses the ProxyJump %s, without which another machine may have the address",
    ([jump]) =>
      Effect.gen(function*() {
        const found = yield* lookUp(`Host main\n  HostName main.example.com\n  ProxyJump "${jump}"\n`)
        expect(found.jump).toBe(null)
        expect(found.jumpRefused).toContain(`${join(found.directory, "config")}:3: ${jump} must be [user@]host[:port]`)
        expect(found.from.map(({ field }) => field)).toEqual(["host"])
        expect(found.warnings).toEqual([found.jumpRefused])
      })
  )

  it.scoped.each([["gate", "gate"], ["%r@gate-%n:2222", "me@gate-main:2222"], ["none", null]])(
    "takes the ProxyJump %s",
    ([jump, expected]) =>
      Effect.gen(function*() {
        expect(yield* lookUp(`Host main\n  ProxyJump ${jump}\n`)).toMatchObject({ jump: expected, jumpRefused: null })
      })
  )

  it.scoped("needs the name of this machine's user only where nothing else names one", () =>
    Effect.gen(function*() {
      const nobody = () => {
        throw new Error("uv_os_get_passwd returned ENOENT")
      }
      expect(yield* lookUp("Host main\n  User ann\n  IdentityFile ~/.ssh/%r\n", nobody)).toMatchObject({
        username: "ann"
      })
    }))
})
