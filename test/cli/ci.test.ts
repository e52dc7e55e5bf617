import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parse } from "yaml"
import { runCli } from "../fixtures/programs/cli.ts"

const ci = (...args: ReadonlyArray<string>) => runCli({ url: "http://127.0.0.1:1" }, ["ci", ...args])

describe("berth ci", () => {
  it.effect("prints a workflow whose inputs the action has, and which leaves out pull requests of forks", () =>
    Effect.gen(function*() {
      const { inputs } = parse(readFileSync("action.yml", "utf8"))
      for (const system of ["github", "gitea"]) {
        const { code, out } = yield* ci(system, "--action", "https://git.example.com/ann/berth@v2")
        const { jobs: { berth } } = parse(out)
        expect([code, berth.steps[1].uses]).toEqual([0, "https://git.example.com/ann/berth@v2"])
        expect(berth.if).toContain("head.repo.full_name == github.repository")
        for (const name of Object.keys(berth.steps[1].with)) expect(Object.keys(inputs)).toContain(name)
      }
    }))

  it.effect("prints jobs and a script that plan without secrets and deploy without a question", () =>
    Effect.gen(function*() {
      const { deploy, plan } = parse((yield* ci("gitlab")).out)
      expect(plan.script).toEqual(["berth deploy . --dry-run --no-secrets --report plan.md"])
      expect(deploy.script).toEqual(["berth deploy . --yes --report deploy.md"])
      expect((yield* ci("shell")).out).toMatch(/^#!\/bin\/sh\n[\s\S]*exec berth deploy \. --yes/)
    }))

  it.effect("refuses a system that it does not know, and an address that is none", () =>
    Effect.gen(function*() {
      expect((yield* ci("jenkins")).code).toBe(64)
      const { code, err } = yield* ci("github", "--action", "a\n  evil: true")
      expect([code, err]).toEqual([64, expect.stringContaining("--action must be like")])
    }))

  it.scoped("writes the file once, and never replaces one", () =>
    Effect.gen(function*() {
      const before = process.cwd()
      const directory = yield* Effect.acquireRelease(
        Effect.sync(() => {
          const made = mkdtempSync(join(tmpdir(), "berth-ci-"))
          process.chdir(made)
          return made
        }),
        (made) =>
          Effect.sync(() => {
            process.chdir(before)
            rmSync(made, { recursive: true })
          })
      )
      const first = yield* ci("github", "--write")
      expect([first.code, first.err]).toEqual([0, expect.stringContaining("Replace OWNER/berth@REF")])
      const file = join(directory, ".github/workflows/deploy.yml")
      const text = readFileSync(file, "utf8")
      const second = yield* ci("github", "--action", "a/b@c", "--write")
      expect([second.code, second.err]).toEqual([1, expect.stringContaining("exists already: nothing was written")])
      expect(readFileSync(file, "utf8")).toBe(text)
      // A cloned repository may bring a link in the place of a directory.
      mkdirSync(join(directory, "elsewhere"))
      symlinkSync("elsewhere", join(directory, ".gitea"))
      const third = yield* ci("gitea", "--write")
      expect([third.code, third.err]).toEqual([1, expect.stringContaining(".gitea is a link")])
      expect(readdirSync(join(directory, "elsewhere"))).toEqual([])
    }))
})
