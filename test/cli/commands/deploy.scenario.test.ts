import { NodeContext } from "@effect/platform-node"
import { describe, expect, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeWorld, type World } from "../../../src/sandbox/world.ts"
import { runCli } from "../../fixtures/programs/cli.ts"
import { startService } from "../../fixtures/programs/service.ts"

class Stage extends Context.Tag("Stage")<Stage, { readonly world: World; readonly url: string }>() {}

const StageLive = Layer.scoped(
  Stage,
  Effect.gen(function*() {
    const world = yield* makeWorld
    const { url } = yield* startService(world.settingsFile)
    return { world, url }
  })
).pipe(Layer.provide(NodeContext.layer))

const ids = (text: string) => text.replace(/\b0[0-9a-z]{25}\b/g, "RUN").replace(/ \([\d.]+ s\)/g, "")

describe.skipIf(process.platform === "win32")("berth deploy", () => {
  layer(StageLive, { timeout: "60 seconds", excludeTestServices: true })((it) => {
    it.effect("shows what would change and changes nothing with --dry-run", () =>
      Effect.gen(function*() {
        const { url } = yield* Stage
        const plan = yield* runCli({ url }, ["deploy", "hello", "--dry-run"])
        expect(plan.err).toBe("")
        expect(plan.out.replace(/\([\d.]+ k?B\)/g, "(SIZE)").replace(/[\d.]+ k?B/g, "SIZE")).toBe(
          `Deploy hello to ~/containers/hello on Sandbox:
  + file compose.yml (SIZE)
  + file .env (SIZE) compose.yml:7
  + image hello:latest (SIZE)
  + service hello create
  SIZE to send of SIZE
`
        )
        expect(plan.code).toBe(0)
        expect((yield* runCli({ url }, ["deploy", "hello", "--dry-run", "--detailed-exitcode"])).code).toBe(2)
        const json = yield* runCli({ url }, ["deploy", "hello", "--dry-run", "--json"])
        expect(JSON.parse(json.out)).toMatchObject({
          serverId: "sandbox",
          services: [{ name: "hello", change: "create" }]
        })
      }))

    it.effect("ends with 1 where something is in the way, also with --dry-run", () =>
      Effect.gen(function*() {
        const { url, world } = yield* Stage
        const project = join(world.projects, "blocked")
        mkdirSync(project)
        writeFileSync(join(project, "compose.yml"), "services:\n  web:\n    image: nowhere.invalid/web:1\n")
        for (const server of ["sandbox", "Sandbox", "SANDBOX"]) {
          writeFileSync(join(project, "container.json"), JSON.stringify({ serverId: server, pull: "never" }))
          for (const more of [[], ["--detailed-exitcode"], ["--json"]]) {
            const plan = yield* runCli({ url }, ["deploy", "blocked", "--dry-run", ...more])
            expect([plan.code, plan.out, plan.err]).toEqual([
              1,
              expect.stringContaining("nowhere.invalid/web:1"),
              "blocked cannot be deployed now.\n"
            ])
            if (more.length === 0) expect(plan.out).toContain("Deploy blocked to ~/containers/blocked on Sandbox:")
          }
        }
        rmSync(project, { recursive: true })
      }))

    it.effect("asks, and does nothing without a yes", () =>
      Effect.gen(function*() {
        const { url } = yield* Stage
        const refused = yield* runCli({ url }, ["deploy", "hello"], { columns: 80, answers: [false] })
        expect(refused.err).toContain("Deploy hello? [y/N]")
        expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(/Nothing was changed\.\n$/) })
        const nobody = yield* runCli({ url }, ["deploy", "hello"])
        expect(nobody).toMatchObject({
          code: 64,
          out: "",
          err: expect.stringMatching(/Error: There is no terminal to ask on: "Deploy hello\?" Add --yes\n$/)
        })
      }))

    it.effect("at Ctrl-C says that the run goes on, and how to follow or cancel it", () =>
      Effect.gen(function*() {
        const { url } = yield* Stage
        const begun = yield* Deferred.make<void>()
        let said = ""
        const heard = (_: string, text: string) => {
          said += `${text}\n`
          return text.includes("preflight") ? Effect.asVoid(Deferred.succeed(begun, undefined)) : Effect.void
        }
        const deploying = yield* Effect.fork(runCli({ url }, ["deploy", "hello", "--yes"], { heard }))
        yield* Deferred.await(begun)
        yield* Fiber.interrupt(deploying)
        const id = /berth runs (\w+) -f/.exec(said)?.[1] ?? ""
        expect(ids(said)).toMatch(
          /The deploy of hello continues\.\n  Follow it with: berth runs RUN -f\n  Cancel it with: berth cancel RUN\n$/
        )
        const followed = yield* runCli({ url }, ["runs", id, "-f"])
        expect(followed.code).toBe(0)
        expect(followed.out).toContain("deploy of hello: succeeded")
        // In a pipe each step has a line of its own, without colours.
        for (const step of ["preflight", "upload", "load", "start", "health"]) {
          expect(followed.err).toContain(`✓ ${step}`)
        }
        expect(followed.err).not.toContain("\u001b")
        const events = yield* runCli({ url }, ["runs", id, "-f", "--json"])
        expect(events.out.trim().split("\n").map((line) => JSON.parse(line).event)).toEqual(["run", "end"])
      }))

    it.effect("shows the steps in place on a terminal, within its width", () =>
      Effect.gen(function*() {
        const { url } = yield* Stage
        const { code, err, shown } = yield* runCli({ url }, ["deploy", "hello", "--yes"], {
          columns: 40,
          hasColor: true
        })
        expect(code).toBe(0)
        expect(shown.length).toBeGreaterThan(0)
        for (const line of shown.join("\n").replace(/\u001b\[\d+m/g, "").split("\n")) {
          expect(line.length).toBeLessThanOrEqual(40)
        }
        expect(err).toContain("\u001b[32m✓\u001b[39m preflight")
        expect(err).not.toContain("• preflight")
      }))

    it.effect("says what to do when somebody else deploys between its question and the answer", () =>
      Effect.gen(function*() {
        const { url } = yield* Stage
        const heard = (_: string, text: string) =>
          text.startsWith("Deploy hello?") ? Effect.asVoid(runCli({ url }, ["deploy", "hello", "--yes"])) : Effect.void
        const late = yield* runCli({ url }, ["deploy", "hello"], { columns: 300, answers: [true], heard })
        expect(late.err).toMatch(/Nothing was changed\. Run the command again to see what it would change now\n/)
        expect(late.code).toBe(1)
      }))

    it.effect("says once why the server could not load an archive or start a stack", () =>
      Effect.gen(function*() {
        const { url, world } = yield* Stage
        const kinds = [
          { step: "load", words: "unexpected EOF", state: "Nothing was running before", change: { tar: "no archive" } },
          { step: "start", words: "already in use", state: "Nothing was running before", change: { name: "greeter" } }
        ]
        for (const { change, state, step, words } of kinds) {
          const project = join(world.projects, step)
          cpSync(join(world.projects, "hello"), project, { recursive: true })
          writeFileSync(join(project, "container.json"), JSON.stringify({ serverId: "sandbox" }))
          if (change.tar !== undefined) writeFileSync(join(project, "hello.tar"), change.tar)
          writeFileSync(join(project, ".env"), "HOST_PORT=2099\n")
          const compose = readFileSync(join(project, "compose.yml"), "utf8")
          writeFileSync(
            join(project, "compose.yml"),
            compose.replace("container_name: hello", `container_name: ${change.name ?? step}`)
          )
          for (const json of [false, true]) {
            const ran = yield* runCli({ url }, ["deploy", step, "--yes", ...json ? ["--json"] : []])
            expect(ran.code).toBe(1)
            expect(ran.err.split(words), ran.err).toHaveLength(2)
            expect(ran.err).toContain(`Error: Deploy failed at ${step}: see the output above`)
            expect(ran.err).toContain(state)
            if (json) expect(JSON.parse(ran.out).error).toContain(words)
            // A program reads the remedies in the run; a person at the end.
            const next = /\n {2}[A-Z][a-z ]+: berth (?:logs|server test) \S+.*\n {2}Deploy again: berth deploy \S+.*\n$/
            expect(next.test(ran.err), ran.err).toBe(!json)
          }
          // Without its output before it, the error of the run says why.
          const { runs } = JSON.parse((yield* runCli({ url }, ["runs", "--limit", "1", "--json"])).out)
          const shown = yield* runCli({ url }, ["runs", runs[0].id, "-f"])
          expect(`${shown.err}${shown.out}`.split(words), shown.out).toHaveLength(2)
          rmSync(project, { recursive: true })
        }
      }))

    it.effect("refuses what it does not know, in words that help", () =>
      Effect.gen(function*() {
        const { url } = yield* Stage
        const refusals: ReadonlyArray<readonly [ReadonlyArray<string>, string, number]> = [
          [
            ["deploy", "helo", "--yes"],
            "No project is named \"helo\", under the projects root or here. Did you mean \"hello\"?",
            1
          ],
          [
            ["deploy", "hello", "--server", "sandbax", "--yes"],
            "No server with the id or the name \"sandbax\" is stored. Did you mean \"sandbox\"?",
            1
          ],
          [["deploy", "notes", "--dry-run"], "notes", 1]
        ]
        for (const [args, words, code] of refusals) {
          const ran = yield* runCli({ url }, args)
          expect(ran.err).toContain(words)
          expect(ran.code).toBe(code)
        }
      }))
  })
})
