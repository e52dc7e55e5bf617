import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { makeWorld } from "../../../src/sandbox/world.ts"
import { patience } from "../../fixtures/patience.ts"
import { runCli } from "../../fixtures/programs/cli.ts"
import { hasTerminal, onTerminal } from "../../fixtures/programs/terminal.ts"

const type = "ssh-ed25519"
const other = Buffer.concat([Buffer.from([0, 0, 0, type.length]), Buffer.from(type), Buffer.alloc(36)])
const stored = `SHA256:${createHash("sha256").update(other).digest("base64").replace(/=+$/, "")}`

/** A stored server whose host key is another one than the one that is remembered for it. */
const changedWorld = Effect.gen(function*() {
  const { server, settingsFile } = yield* makeWorld
  const keys = join(dirname(settingsFile), "berth.known_hosts")
  const text = `[${server.host}]:${server.port} ${type} ${other.toString("base64")}\n`
  const forget = Effect.sync(() => writeFileSync(keys, text))
  yield* forget
  const shown = JSON.parse((yield* runCli({ settingsFile }, ["server", "test", "Sandbox", "--json"])).out).hostKey
  expect(shown).toMatchObject({ standing: "changed", remembered: stored })
  const fresh: string = shown.fingerprint
  const at = `ann@${server.host}:${server.port}`
  return { settingsFile, forget, fresh, at, text, remembered: () => readFileSync(keys, "utf8") }
})

describe.skipIf(!hasTerminal)("a host key that has changed", () => {
  it.scopedLive(
    "is shown beside the stored one, and takes its place only after a yes on a terminal",
    () =>
      Effect.gen(function*() {
        const { at, forget, fresh, remembered, settingsFile, text } = yield* changedWorld
        const commands: ReadonlyArray<readonly [args: ReadonlyArray<string>, done: RegExp]> = [
          [["server", "test", "Sandbox"], /Berth can deploy there/],
          [["server", "add", "Other", at, "--agent", "--host-key", fresh], /Stored Other with the id/],
          [
            ["server", "add", "Other", at, "--agent", "--host-key", fresh, "--id", "other"],
            /Stored Other with the id other/
          ]
        ]
        for (const [args, done] of commands) {
          for (const keys of ["n\n", "\n", "\u0004"]) {
            const refused = yield* onTerminal(args, { env: { BERTH_CONFIG: settingsFile }, columns: 200 })
            yield* refused.until(/Replace the stored host key\? \[y\/N\] /)
            expect(refused.output()).toContain(`stored: ${stored}`)
            expect(refused.output()).toContain(`new:    ${fresh}`)
            yield* refused.type(keys)
            expect([args, yield* refused.ended]).toEqual([args, 1])
            expect(refused.output()).toMatch(/Nothing was changed\.\s+$/)
            expect(remembered()).toBe(text)
          }
          const nobody = yield* runCli({ settingsFile }, args)
          expect([args, nobody.code, remembered()]).toEqual([args, 1, text])
          expect(nobody.out + nobody.err).toContain(stored)

          const replaced = yield* onTerminal(args, { env: { BERTH_CONFIG: settingsFile }, columns: 200 })
          yield* replaced.until(/Replace the stored host key\? \[y\/N\] /)
          yield* replaced.type("y\n")
          expect([yield* replaced.ended, replaced.output()]).toEqual([0, expect.stringMatching(done)])
          expect(remembered()).not.toContain(other.toString("base64"))
          const tested = yield* runCli({ settingsFile }, ["server", "test", "Sandbox", "--json"])
          expect(JSON.parse(tested.out)).toMatchObject({
            ready: true,
            hostKey: { standing: "known", fingerprint: fresh }
          })
          yield* runCli({ settingsFile }, ["server", "remove", "Other", "--yes"])
          yield* forget
        }
        const named = ["server", "add", "Other", at, "--agent", "--host-key", fresh, "--replaces-host-key", stored]
        expect((yield* runCli({ settingsFile }, named)).code).toBe(0)
      }).pipe(Effect.provide(NodeContext.layer)),
    240_000 * patience
  )

  it.scopedLive(
    "that is stored for another route is shown with both routes, and used on the new one only after a yes",
    () =>
      Effect.gen(function*() {
        const { fresh, remembered, settingsFile } = yield* changedWorld
        const keys = join(dirname(settingsFile), "berth.known_hosts")
        const env = { BERTH_CONFIG: settingsFile }
        // Learn the key itself, and store it behind a jump host that the server does not have.
        writeFileSync(keys, "")
        yield* runCli({ settingsFile }, ["doctor"])
        const elsewhere = remembered().replace(/^(\[\S+?\]:\d+) /m, "$1@gate.invalid ")
        expect(elsewhere).toContain("@gate.invalid ")
        writeFileSync(keys, elsewhere)
        const refused = yield* onTerminal(["server", "test", "Sandbox"], { env, columns: 200 })
        yield* refused.until(/Accept the new route\? \[y\/N\] /)
        for (const words of ["stored: through gate.invalid", "now:    directly", `stored: ${fresh}`]) {
          expect(refused.output()).toContain(words)
        }
        expect(refused.output()).not.toContain("host key of")
        yield* refused.type("n\n")
        expect([yield* refused.ended, remembered()]).toEqual([1, elsewhere])
        const accepted = yield* onTerminal(["server", "test", "Sandbox"], { env, columns: 200 })
        yield* accepted.until(/Accept the new route\? \[y\/N\] /)
        yield* accepted.type("y\n")
        expect([yield* accepted.ended, accepted.output()]).toEqual([0, expect.stringMatching(/Berth can deploy there/)])
        expect(remembered()).toContain(elsewhere.trimEnd())
      }).pipe(Effect.provide(NodeContext.layer)),
    120_000 * patience
  )
})

describe.skipIf(!hasTerminal)("a host key that is new", () => {
  it.scopedLive(
    "is shown, and a credential is sent and the key is stored with the server only after a yes on a terminal",
    () =>
      Effect.gen(function*() {
        const { server, settingsFile } = yield* makeWorld
        const at = `ann@${server.host}:${server.port}`
        const settings = () => readFileSync(settingsFile, "utf8")
        const env = { BERTH_CONFIG: settingsFile }
        const commands: ReadonlyArray<readonly [args: ReadonlyArray<string>, done: RegExp, code: number]> = [
          // It has no agent: that is found by a log-in.
          [["server", "test", at, "--agent"], /log-in: SSH authentication failed[^]*Berth cannot deploy there yet/, 1],
          [["server", "add", "Other", at, "--agent"], /Stored Other with the id/, 0],
          [["server", "test", "Sandbox"], /Berth can deploy there/, 0]
        ]
        for (const [args, done, code] of commands) {
          const stores = code === 0
          const before = settings()
          for (const keys of ["n\n", "\n", "\u0004"]) {
            const refused = yield* onTerminal(args, { env, columns: 200 })
            yield* refused.until(/Is that its key\? \[y\/N\] /)
            expect(refused.output()).toMatch(
              /shows the host key SHA256:\S{43} \(ecdsa-sha2-nistp256\), which is new here/
            )
            yield* refused.type(keys)
            expect([args, yield* refused.ended]).toEqual([args, 1])
            expect(refused.output()).toMatch(/Nothing was changed\.\s+$/)
            expect(settings()).toBe(before)
          }
          if (args[1] === "test") {
            const nobody = yield* runCli({ settingsFile }, args)
            expect([args, nobody.code, settings()]).toEqual([args, 1, before])
            expect(nobody.err.replaceAll(/\s+/g, " ")).toContain("Go on with --host-key SHA256:")
            expect((yield* runCli({ settingsFile }, [...args, "--json"])).code).toBe(1)
          }
          const accepted = yield* onTerminal(args, { env, columns: 200 })
          yield* accepted.until(/Is that its key\? \[y\/N\] /)
          yield* accepted.type("y\n")
          expect([yield* accepted.ended, accepted.output()]).toEqual([code, expect.stringMatching(done)])
          expect(settings() === before).toBe(!stores)
          const tested = yield* runCli({ settingsFile }, ["server", "test", "Sandbox", "--json"])
          const standing = JSON.parse(tested.out).hostKey.standing
          expect([standing, tested.code]).toEqual(stores ? ["known", 0] : ["new", 1])
          if (args[1] === "add") yield* runCli({ settingsFile }, ["server", "remove", "Other", "--yes"])
          if (args[1] === "add") writeFileSync(join(dirname(settingsFile), "berth.known_hosts"), "")
        }
        expect(settings()).toMatch(/hostKey: "?SHA256:/)
      }).pipe(Effect.provide(NodeContext.layer)),
    120_000 * patience
  )
})
