import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { HostKeyChanged, type ServerAccess } from "../../../src/schema/ssh.ts"
import { makeSteps, Steps } from "../../../src/services/runs/Steps.ts"
import { Sftp } from "../../../src/services/ssh/Sftp.ts"
import { Ssh } from "../../../src/services/ssh/Ssh.ts"
import { SshClient } from "../../../src/services/sshClient/clientConfig.ts"
import { fakeSsh } from "../../fixtures/network/fakeSsh.ts"
import { temporaryDirectory } from "../../layers/temporary.ts"
import { command, liveSsh } from "./live.ts"

/** Another key of the type that the server shows, as a line of known_hosts. */
const otherKey = (type: string) =>
  Buffer.concat([Buffer.from([0, 0, 0, type.length]), Buffer.from(type), Buffer.alloc(72, 7)]).toString("base64")

const user = Effect.gen(function*() {
  const home = yield* temporaryDirectory
  const directory = join(home, ".ssh")
  mkdirSync(directory)
  const file = join(directory, "known_hosts")
  return {
    client: Layer.succeed(SshClient, { home, directory, user: "me" }),
    file,
    writes: (text: string) => Effect.sync(() => writeFileSync(file, text, { mode: 0o600 })),
    forgets: Effect.sync(() => rmSync(file))
  }
})

/** Each way in which Berth connects to a server that is stored. */
const connections: ReadonlyArray<
  readonly [
    what: string,
    use: (access: ServerAccess) => Effect.Effect<unknown, { readonly _tag: string }, Ssh | Sftp>
  ]
> = [
  ["a command", (access) => Effect.flatMap(Ssh, ({ exec }) => exec(access, command("true")))],
  [
    "a command of a caller",
    (access) => Effect.flatMap(Ssh, ({ exec }) => exec(access, command("true", { pool: "commands" })))
  ],
  ["a transfer", (access) => Effect.scoped(Effect.flatMap(Sftp, ({ session }) => session(access)))],
  [
    "a command behind a jump host",
    (access) =>
      Effect.flatMap(
        Ssh,
        ({ exec }) => exec({ ...access, name: "behind", via: access }, command("true"))
      )
  ]
]

describe("the user's known_hosts", () => {
  it.scopedLive.each(connections)(
    "refuses the key of a server where it has another one, for %s",
    ([, use]) =>
      Effect.gen(function*() {
        const { access, logIns } = yield* fakeSsh()
        const { client, file, forgets, writes } = yield* user
        yield* Effect.gen(function*() {
          const name = `[${access.host}]:${access.port}`
          yield* writes(`${name} ecdsa-sha2-nistp256 ${otherKey("ecdsa-sha2-nistp256")}\n`)
          const refused = yield* Effect.flip(use(access))
          expect(refused).toBeInstanceOf(HostKeyChanged)
          expect(refused).toMatchObject({ file, isUsers: true })
          expect(String(refused)).toContain(`ssh-keygen -R "${name}"`)
          expect(yield* logIns).toBe(0)
          yield* forgets
          yield* Effect.flatMap(Ssh, ({ exec }) => exec(access, command("true")))
          expect(yield* logIns).toBe(1)
        }).pipe(Effect.provide(liveSsh()), Effect.provide(client))
      })
  )
})

const recorded = Effect.gen(function*() {
  const warnings: Array<string> = []
  const output: Array<string> = []
  const steps = yield* makeSteps({
    run: "0196-run",
    initial: [],
    onChange: () => Effect.void,
    onProgress: () => Effect.void,
    output: (stream, text) => Effect.sync(() => void output.push(`${stream}: ${text}`)),
    hasResult: () => Effect.succeed(false),
    isCancelled: Effect.succeed(false),
    perform: (_, __, effect) => effect(false)
  })
  const logger = Logger.make(({ message }) => void warnings.push([message].flat().join(" ")))
  return { warnings, output, steps, logged: Logger.replace(Logger.defaultLogger, logger) }
})

describe("a key at first sight", () => {
  it.scopedLive.each([["a run", true], ["anything else", false]] as const)(
    "is told once by %s, and not again",
    ([, isRun]) =>
      Effect.gen(function*() {
        const { access } = yield* fakeSsh()
        const { client } = yield* user
        const { logged, output, steps, warnings } = yield* recorded
        const told = isRun ? output : warnings
        const use = Effect.flatMap(Ssh, ({ exec }) => exec(access, command("true")))
        yield* Effect.gen(function*() {
          yield* isRun ? Effect.provideService(use, Steps, steps) : use
          expect(told).toEqual([
            expect.stringMatching(
              new RegExp(
                `^${isRun ? "stderr: " : ""}First contact with ${access.host}:${access.port}: its host key ` +
                  "ecdsa-sha2-nistp256 SHA256:\\S{43} is remembered in known_hosts, and nobody has compared it"
              )
            )
          ])
          yield* Effect.all([use, use], { concurrency: 2, discard: true })
          expect(warnings.length + output.length).toBe(1)
        }).pipe(Effect.provide(liveSsh()), Effect.provide(client), Effect.provide(logged))
      })
  )
})
