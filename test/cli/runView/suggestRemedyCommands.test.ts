import { it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { expect } from "vitest"
import { GivenService } from "../../../src/cli/options.ts"
import { suggestRemedyCommands } from "../../../src/cli/runView.ts"
import { Berth } from "../../../src/client/Berth.ts"
import { BerthError } from "../../../src/client/BerthError.ts"
import type { Run } from "../../../src/schema/runs.ts"

const time = "2026-01-02T03:04:05.678Z"
const run: Run = {
  id: "01m80yqq5mpfzvahn1sfvx7mvm",
  kind: "deploy",
  state: "failed",
  subject: { projectPath: "/projects/my shop", serverId: "17", remotePath: "~/containers/shop" },
  requestedBy: { door: "cli", name: "ann@laptop" },
  requestedAt: time,
  startedAt: time,
  endedAt: time,
  steps: [],
  result: { success: true, healthy: false },
  error: { status: 200, error: "web is unhealthy" }
}

const given = { url: Option.none<string>(), config: Option.none<string>() }

const project = (serverId: string | null) => ({
  name: "shop",
  path: "/projects/my shop",
  hasImageFile: true,
  hasComposeFile: true,
  hasPlatformJson: false,
  hasData: false,
  tarFile: null,
  serverId,
  remotePath: "~/containers/shop"
})

/** A service that knows these projects under its root, and one of them in detail. */
const serviceWith = (inspected: Effect.Effect<object, BerthError>, projects: ReadonlyArray<object> = []) =>
  Layer.mock(Berth, {
    where: "https://berth.example.com",
    use: (call) =>
      Effect.mapError(
        call(Object({ inspectProject: () => inspected, listProjects: () => Effect.succeed(projects) })),
        () => refused
      )
  })

/** Commands for a run whose project's container.json names this server; the project cannot be read where it is "gone". */
const commandsFor = (run: Run, declared: string | null = "17", projects: ReadonlyArray<object> = []) =>
  suggestRemedyCommands(run).pipe(
    Effect.provide(serviceWith(declared === "gone" ? refused : Effect.succeed(project(declared)), projects)),
    Effect.provideService(GivenService, given)
  )

it.effect("names the place of a run where the project has several targets", () =>
  Effect.gen(function*() {
    const targets = [{ serverId: "17", remotePath: "~/containers/shop" }]
    const lines = yield* suggestRemedyCommands(run).pipe(
      Effect.provide(serviceWith(Effect.succeed({ ...project("17"), targets }))),
      Effect.provideService(GivenService, given)
    )
    expect(lines).toContain(`  Deploy again: berth deploy '/projects/my shop' ${there}`)
  }))

const there = "--server 17 --path '~/containers/shop'"
const refused = new BerthError({ reason: "refused", status: 400, message: "no such directory" })

it.effect("names a command for each remedy, the same ones that the page offers", () =>
  Effect.gen(function*() {
    expect(yield* commandsFor(run)).toEqual([
      "  Show the log: berth logs '/projects/my shop'",
      "  Roll back: berth rollback '/projects/my shop'",
      "  Deploy again: berth deploy '/projects/my shop'"
    ])
    expect(yield* commandsFor({ ...run, result: null, error: { status: 502, error: "" } })).toContain(
      "  Check the server: berth server test 17"
    )
    expect(yield* commandsFor({ ...run, state: "succeeded" })).toEqual([])
  }))

it.effect.each(["18", null, "gone"])(
  "says where the stack is where container.json names the server %s",
  (declared) =>
    Effect.gen(function*() {
      expect(yield* commandsFor(run, declared)).toEqual([
        `  Show the log: berth logs '/projects/my shop' ${there}`,
        `  Roll back: berth rollback '/projects/my shop' ${there}`,
        `  Deploy again: berth deploy '/projects/my shop' ${there}`
      ])
    })
)

it.effect("offers no rollback to the first release, which has none before it", () =>
  Effect.gen(function*() {
    expect(yield* commandsFor({ ...run, result: { success: true, healthy: false, isFirst: true } })).toEqual([
      "  Show the log: berth logs '/projects/my shop'",
      "  Deploy again: berth deploy '/projects/my shop'"
    ])
  }))

it.effect.each(
  [
    ["shop", [["/projects/shop", "shop"]], "shop"],
    ["my shop", [["/projects/my shop", "my shop"]], "'my shop'"],
    ["--yes", [["/projects/--yes", "--yes"]], "/projects/--yes"],
    ["shop outside the root", [["/projects/shop", "shop"]], "'/projects/shop outside the root'"],
    ["twice", [["/projects/twice", "twice"], ["/others/twice", "twice"]], "/projects/twice"]
  ] as const
)("names the project %s by its name only where that finds it", ([directory, known, named]) =>
  Effect.gen(function*() {
    const subject = { ...run.subject, projectPath: `/projects/${directory}` }
    const projects = known.map(([path, name]) => ({ path, name }))
    expect(yield* commandsFor({ ...run, subject }, "17", projects)).toContain(`  Deploy again: berth deploy ${named}`)
  }))

it.effect("finds the stack of a rollback without its project", () =>
  Effect.gen(function*() {
    const { projectPath: _, ...subject } = run.subject
    expect(yield* commandsFor({ ...run, kind: "rollback", subject })).toEqual([
      `  Show the log: berth logs ${there}`,
      `  Roll back: berth rollback ${there}`
    ])
  }))
