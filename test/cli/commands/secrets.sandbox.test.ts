import { describe, expect, it } from "@effect/vitest"
import { generateX25519Identity, identityToRecipient } from "age-encryption"
import { Effect } from "effect"
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { runCli } from "../../fixtures/programs/cli.ts"
import { settingsFileWith, startService } from "../../fixtures/programs/service.ts"

const tokens = {
  ann: "token-of-ann-0123456789",
  vic: "token-of-vic-0123456789"
}

/** A project of a service: a secret of a stand-in for a password manager, one of an age file, one of a missing program. */
const makeProject = (settingsFile: string) => {
  const directory = join(dirname(settingsFile), "projects", "shop")
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, "op"), "#!/bin/sh\necho called >>op.log\necho planted-of-op\n")
  chmodSync(join(directory, "op"), 0o755)
  writeFileSync(
    join(directory, "compose.yml"),
    "services:\n  web:\n    image: web\n    environment: [DB_PASSWORD, STRIPE_KEY]\n"
  )
  writeFileSync(
    join(directory, "container.json"),
    JSON.stringify({
      secrets: {
        DB_PASSWORD: { command: ["./op", "read", "planted-argument"] },
        STRIPE_KEY: { age: "secrets.age" },
        GONE: { command: ["berth-missing-program"], as: "file" }
      }
    })
  )
  return directory
}

const everyText = (directory: string): string =>
  readdirSync(directory, { withFileTypes: true }).map((entry) => {
    const at = join(directory, entry.name)
    return entry.isDirectory() ? everyText(at) : entry.isFile() ? readFileSync(at, "latin1") : ""
  }).join("\n")

describe.skipIf(process.platform === "win32")("berth secrets", () => {
  it.scopedLive("lists, sets and checks secrets, and shows no value to anybody", () =>
    Effect.gen(function*() {
      const identity = yield* Effect.promise(() => generateX25519Identity())
      const recipient = yield* Effect.promise(() => identityToRecipient(identity))
      const file = yield* settingsFileWith(
        `projects: { root: projects }\nsecrets: { identity: ${identity} }\nhttp:\n  tokens:\n` +
          `    - { name: Ann, token: ${tokens.ann}, role: operator }\n    - { name: Vic, token: ${tokens.vic}, role: viewer }\n`
      )
      const directory = makeProject(file)
      const { request } = yield* startService(file)
      const all: Array<string> = []
      const run = (args: ReadonlyArray<string>, secret?: string) =>
        Effect.tap(
          runCli({ settingsFile: file }, ["secrets", ...args], secret === undefined ? {} : { secret, answers: [] }),
          ({ err, out }) => Effect.sync(() => void all.push(out, err))
        )
      const listed = yield* run(["list", directory])
      expect(listed.out).toMatch(
        /DB_PASSWORD +\.\/op +variable +web\nSTRIPE_KEY +secrets\.age +variable +web\nGONE +berth-missing-program +file/
      )
      expect(existsSync(join(directory, "op.log"))).toBe(false)

      const unready = yield* run(["set", directory, "STRIPE_KEY"], "planted-in-age")
      expect([unready.code, unready.err]).toEqual([
        1,
        expect.stringContaining("berth secrets recipients add PROJECT age1")
      ])
      expect((yield* run(["recipients", "add", directory, recipient])).out).toContain(recipient)
      expect(readFileSync(join(directory, "secrets.recipients"), "utf8")).toBe(`${recipient}\n`)
      const set = yield* run(["set", directory, "STRIPE_KEY"], "planted-in-age")
      expect([set.code, set.err]).toEqual([0, "STRIPE_KEY is set, for 1 recipient.\n"])
      expect(readFileSync(join(directory, "secrets.age"), "utf8")).toMatch(/^-----BEGIN AGE ENCRYPTED FILE-----\n/)
      for (
        const [name, words] of [
          ["STRIPE_KY", "has no secret \"STRIPE_KY\". Nothing was changed. Did you mean \"STRIPE_KEY\"?"],
          ["DB_PASSWORD", "has the secret DB_PASSWORD from the program \"./op\", and not from an age file"]
        ] as const
      ) {
        const refused = yield* run(["set", directory, name], "planted")
        expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(words)])
      }
      expect((yield* run(["set", directory, "STRIPE_KEY"], "")).code).toBe(1)
      // No value is asked for that nothing declares.
      expect((yield* run(["set", directory, "STRIPE_KY"], "")).err).toContain("has no secret \"STRIPE_KY\"")

      const checked = yield* run(["check", directory])
      expect(checked.code).toBe(1)
      expect(checked.err).toMatch(/^GONE: Cannot run berth-missing-program: it is not installed, .*, on \S+@\S+\n$/)
      expect(readFileSync(join(directory, "op.log"), "utf8")).toBe("called\n")

      // A viewer lists and does no more; an operator with a token runs only what is trusted.
      const as = (token: string) => ({ authorization: `Bearer ${token}` })
      const at = `/api/projects/secrets?projectPath=${encodeURIComponent(directory)}`
      const seen = yield* request("GET", at, undefined, as(tokens.vic))
      expect(seen.body).toMatchObject({
        secrets: [{ name: "DB_PASSWORD", source: "./op", as: "variable", services: ["web"] }, { name: "STRIPE_KEY" }, {
          as: "file"
        }],
        recipients: [recipient]
      })
      const body = { projectPath: directory }
      for (const action of ["check", "set", "recipients"]) {
        const refused = yield* request("POST", `/api/projects/secrets/${action}`, body, as(tokens.vic))
        expect([action, refused.status]).toEqual([action, 403])
      }
      const untrusted = yield* request("POST", "/api/projects/secrets/check", body, as(tokens.ann))
      expect([untrusted.status, untrusted.text]).toEqual([
        403,
        expect.stringContaining("secret DB_PASSWORD is new, secret GONE is new, op is new")
      ])
      const trusted = yield* runCli({ settingsFile: file }, ["trust", directory, "--yes"])
      expect(trusted.out).toContain("secret DB_PASSWORD: ./op read planted-argument")
      const resolved = yield* request("POST", "/api/projects/secrets/check", body, as(tokens.ann))
      expect([resolved.status, resolved.text]).toEqual([200, expect.stringContaining("berth-missing-program")])
      const replaced = yield* request(
        "POST",
        "/api/projects/secrets/set",
        { ...body, name: "STRIPE_KEY", value: "planted-over-http" },
        as(tokens.ann)
      )
      expect(replaced.status).toBe(200)
      all.push(
        seen.text,
        untrusted.text,
        resolved.text,
        replaced.text,
        everyText(dirname(file)).replace("echo planted-of-op", "")
      )
      for (const planted of ["planted-of-op", "planted-in-age", "planted-over-http"]) {
        expect(all.join("\n")).not.toContain(planted)
      }
    }))
})
