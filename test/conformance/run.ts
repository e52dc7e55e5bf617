// Judges the protocol of the tools for agents with the official suite, for both of its revisions: each check that fails
// has to be one of expected.json, which says why, and each one there has to fail.
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Schema } from "effect"
import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { makeAgentLayer } from "../../src/mcp/http.ts"
import { makeWorld } from "../../src/sandbox/world.ts"
import { startService } from "../fixtures/programs/service.ts"
import { temporaryDirectory } from "../layers/temporary.ts"
import { fixtureOffer } from "./offer.ts"

const revisions = ["2025-11-25", "2026-07-28"] as const
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const suite = createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/dist/index.js")

const Checks = Schema.parseJson(Schema.Array(Schema.Struct({ id: Schema.String, status: Schema.String })))
/** Features that Berth does not offer: the checks that fail for it, by revision and scenario. */
const Expected = Schema.parseJson(Schema.Array(Schema.Struct({
  because: Schema.NonEmptyString,
  fails: Schema.Record({ key: Schema.String, value: Schema.Array(Schema.String) })
})))
const decode = <A>(schema: Schema.Schema<A, string>, file: string) => Schema.decode(schema)(readFileSync(file, "utf8"))

/** Runs the suite; it writes a directory for each scenario. */
const judge = (url: string, revision: string, directory: string) =>
  Effect.async<string>((resume) => {
    const options = ["--url", `${url}/mcp`, "--requirements", revision, "-o", directory]
    execFile(
      process.execPath,
      ["--import", here("node20.mjs"), suite, "server", ...options],
      { encoding: "utf8", maxBuffer: 1 << 26 },
      // It ends with a failure as soon as one check fails.
      (_, stdout, stderr) => resume(Effect.succeed(stdout + stderr))
    )
  })

/** Every check of a revision that was made, as `revision scenario: check`, and those that failed. */
const checksOf = (url: string, revision: string) =>
  Effect.gen(function*() {
    const directory = join(yield* temporaryDirectory, revision)
    const output = yield* judge(url, revision, directory)
    const scenarios = yield* Effect.try({
      try: () => readdirSync(directory),
      catch: () => new Error(`The suite did not run:\n${output.slice(-2_000)}`)
    })
    const checks = yield* Effect.forEach(scenarios, (name) => {
      const scenario = name.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, "")
      return Effect.map(
        decode(Checks, join(directory, name, "checks.json")),
        (all) => all.map(({ id, status }) => ({ name: `${revision} ${scenario}: ${id}`, failed: status === "FAILURE" }))
      )
    })
    return checks.flat()
  })

const without = (some: ReadonlyArray<string>, others: ReadonlyArray<string>) =>
  some.filter((name) => !others.includes(name)).map((name) => `  ${name}`).sort()

const program = Effect.gen(function*() {
  const { settingsFile } = yield* makeWorld
  const { url } = yield* startService(settingsFile, "127.0.0.1", {
    agents: makeAgentLayer(Effect.succeed(fixtureOffer))
  })
  const checks = (yield* Effect.forEach(revisions, (revision) => checksOf(url, revision))).flat()
  const failed = checks.filter(({ failed }) => failed).map(({ name }) => name)
  const known = (yield* decode(Expected, here("expected.json"))).flatMap(({ fails }) =>
    Object.entries(fails).flatMap(([scenario, ids]) => ids.map((id) => `${scenario}: ${id}`))
  )
  const [unexpected, mended] = [without(failed, known), without(known, failed)]
  yield* Console.log(
    `${checks.length} checks of ${revisions.join(" and ")}: ${checks.length - failed.length} passed, ` +
      `${failed.length - unexpected.length} failed as expected, ${unexpected.length} failed unexpectedly`
  )
  if (unexpected.length > 0) yield* Console.error(["Failed, and is expected to pass:", ...unexpected].join("\n"))
  if (mended.length > 0) yield* Console.error(["Did not fail, and is expected to:", ...mended].join("\n"))
  if (unexpected.length + mended.length > 0) process.exitCode = 1
}).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

NodeRuntime.runMain(program)
