import { Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { changeRecipients, openAgeFile, readRecipients, setAgeEntry } from "../../../src/pipelines/secrets/ageFile.ts"
import { LocalFilesLive } from "../../../src/services/local/LocalFiles.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"
import { awkwardValues } from "../../fixtures/awkwardValues.ts"
import { patience } from "../../fixtures/patience.ts"

const isThere = ["age", "age-keygen", "ssh-keygen"].every((program) =>
  spawnSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" }).status === 0
)

const run = (program: string, args: ReadonlyArray<string>, input = "") =>
  execFileSync(program, [...args], { encoding: "utf8", input, stdio: "pipe" })

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-age-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Keys of one kind, made by the programs of age and OpenSSH. */
const makeKeys = {
  X25519: (at: string) => {
    run("age-keygen", ["-o", at])
    return { identity: readFileSync(at, "utf8"), recipient: run("age-keygen", ["-y", at]).trim() }
  },
  "ssh-ed25519": (at: string) => {
    run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "ann@laptop", "-f", at])
    return { identity: readFileSync(at, "utf8"), recipient: readFileSync(`${at}.pub`, "utf8").trim() }
  }
}

const withIdentity = (identity: string | undefined) =>
  Layer.mergeAll(
    LocalFilesLive,
    Path.layer,
    settingsTest(identity === undefined ? {} : { "secrets.identity": Redacted.make(identity) })
  ).pipe(Layer.provide(NodeContext.layer))

const valuesOf = (entries: ReadonlyMap<string, Redacted.Redacted>) =>
  Object.fromEntries([...entries].map(([name, value]) => [name, Redacted.value(value)]))

const title = isThere ? "age files" : "age files (need the program age, and ssh-keygen)"

describe.skipIf(!isThere && process.env["BERTH_REQUIRE_REAL"] !== "1")(title, { timeout: 60_000 * patience }, () => {
  for (const kind of ["X25519", "ssh-ed25519"] as const) {
    it.scoped(`go both ways between Berth and the program age: ${kind}`, () =>
      Effect.gen(function*() {
        const project = yield* directory
        const key = join(yield* directory, "key")
        const { identity, recipient } = makeKeys[kind](key)
        yield* Effect.gen(function*() {
          yield* changeRecipients(project, "secrets.age", { add: [recipient], remove: [] })
          // The list is one that age takes.
          expect(run("age", ["-R", join(project, "secrets.recipients")], "x").length).toBeGreaterThan(50)
          for (const [index, value] of awkwardValues.entries()) {
            yield* setAgeEntry(project, "secrets.age", `V${index}`, Redacted.make(value))
          }
          const file = readFileSync(join(project, "secrets.age"), "utf8")
          expect(file).not.toContain("spaces around")
          expect(run("age", ["-d", "-i", key, join(project, "secrets.age")])).toContain("V3=")
          expect(valuesOf(yield* openAgeFile(project, "secrets.age"))).toEqual(
            Object.fromEntries(awkwardValues.map((value, index) => [`V${index}`, value]))
          )
          // Written by age, in armor and without.
          for (const armor of [["-a"], []]) {
            run("age", [...armor, "-r", recipient, "-o", join(project, "other.age")], "A=1\nB='two words'\n")
            expect(valuesOf(yield* openAgeFile(project, "other.age"))).toEqual({ A: "1", B: "two words" })
          }
        }).pipe(Effect.provide(withIdentity(identity)))
      }))
  }

  it.scoped("in a directory that does not exist are the project's mistake", () =>
    Effect.gen(function*() {
      const project = yield* directory
      const file = "keys/secrets.age"
      const failures = yield* Effect.all([
        Effect.flip(openAgeFile(project, file)),
        Effect.flip(readRecipients(project, file)),
        Effect.flip(setAgeEntry(project, file, "A", Redacted.make("1"))),
        Effect.flip(changeRecipients(project, file, { add: [], remove: [] }))
      ])
      for (const { message, status } of failures) {
        expect([status, message]).toEqual([422, expect.stringContaining("create \"keys\" in the project first")])
      }
    }).pipe(Effect.provide(withIdentity(undefined))))

  it.scoped("can be read by whom they are encrypted for, and by nobody who was removed", () =>
    Effect.gen(function*() {
      const project = yield* directory
      const keys = yield* directory
      const ann = makeKeys.X25519(join(keys, "ann"))
      const ben = makeKeys["ssh-ed25519"](join(keys, "ben"))
      const open = openAgeFile(project, "secrets.age")
      yield* Effect.gen(function*() {
        const unready = yield* Effect.flip(setAgeEntry(project, "secrets.age", "A", Redacted.make("1")))
        expect(unready.message).toContain("has no public key to encrypt for: berth secrets recipients add")
        yield* changeRecipients(project, "secrets.age", { add: [ann.recipient], remove: [] })
        yield* setAgeEntry(project, "secrets.age", "A", Redacted.make("1"))
      }).pipe(Effect.provide(withIdentity(ann.identity)))
      const refused = yield* Effect.flip(Effect.provide(open, withIdentity(ben.identity)))
      expect(refused.message).toContain("is not encrypted for secrets.identity")
      expect((yield* Effect.flip(Effect.provide(open, withIdentity(undefined)))).message).toContain(
        "the setting secrets.identity is missing"
      )
      yield* Effect.provide(
        changeRecipients(project, "secrets.age", { add: [ben.recipient], remove: [] }),
        withIdentity(ann.identity)
      )
      expect(valuesOf(yield* Effect.provide(open, withIdentity(ben.identity)))).toEqual({ A: "1" })
      yield* Effect.provide(
        changeRecipients(project, "secrets.age", { add: [], remove: [ann.recipient] }),
        withIdentity(ben.identity)
      )
      yield* Effect.flip(Effect.provide(open, withIdentity(ann.identity)))
      expect(yield* Effect.provide(readRecipients(project, "secrets.age"), withIdentity(undefined))).toEqual([
        ben.recipient
      ])
      const last = { add: [], remove: [ben.recipient] }
      yield* Effect.gen(function*() {
        const emptied = yield* Effect.flip(changeRecipients(project, "secrets.age", last))
        expect(emptied.message).toContain("would have no recipient left")
        const rsa = yield* Effect.flip(
          changeRecipients(project, "secrets.age", { add: ["ssh-rsa AAAAB3NzaC1yc2E= x"], remove: [] })
        )
        expect(rsa.message).toContain("is not a public key of age (age1…) nor an Ed25519 key of SSH")
        writeFileSync(join(project, "secrets.age"), "no age file")
        expect((yield* Effect.flip(open)).message).toContain("cannot be decrypted")
      }).pipe(Effect.provide(withIdentity(ben.identity)))
    }))
})
