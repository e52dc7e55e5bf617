import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { deployTargets } from "../../../src/pipelines/targets/deployTargets.ts"
import { planTargets } from "../../../src/pipelines/targets/planTargets.ts"
import { isEnded } from "../../../src/schema/runs.ts"
import type { TargetsDeployRequest } from "../../../src/schema/targets.ts"
import { Runs } from "../../../src/services/runs/Runs.ts"
import { scene } from "../../fixtures/docker/deployScene.ts"
import { patience } from "../../fixtures/patience.ts"

const paths = ["~/containers/one", "~/containers/two", "~/containers/three"]

/** A scene whose project has three targets on its server. */
const withTargets = Effect.gen(function*() {
  const all = yield* scene()
  const { archive, berth, bring, directory, home } = all
  yield* bring(archive("one"))
  const targets = paths.map((remotePath) => ({ server: "Main", remotePath }))
  writeFileSync(join(directory, "container.json"), JSON.stringify({ files: ["conf"], targets }))
  const request = { projectPath: directory }
  const runs = <A, E>(ask: (runs: Runs["Type"]) => Effect.Effect<A, E>) =>
    Effect.provide(Effect.flatMap(Runs, ask), berth)
  return {
    ...all,
    deployAll: (fields: Partial<TargetsDeployRequest> = {}) =>
      Effect.provide(deployTargets({ ...request, ...fields }), berth),
    planAll: Effect.provide(planTargets(request), berth),
    runs,
    /** Runs of the history, the oldest first. */
    history: Effect.map(runs(({ list }) => list({})), ({ runs }) => runs.toReversed()),
    /** Makes a remote path one that nothing can be deployed to. */
    block: (name: string) => {
      mkdirSync(join(home, "containers"), { recursive: true })
      writeFileSync(join(home, "containers", name), "no directory")
    }
  }
})

it.scopedLive("deploys to each target in turn, as runs of their own that the run lists", () =>
  Effect.gen(function*() {
    const { deployAll, history, home } = yield* withTargets
    const result = yield* deployAll()
    expect(result).toMatchObject({ success: true, healthy: true, deployed: 3 })
    expect(result.message).toBe(
      `3 of 3 servers run the new version: ${paths.map((path) => `Main ${path}`).join(", ")}.`
    )
    for (const name of ["one", "two", "three"]) {
      expect(readFileSync(join(home, "containers", name, ".env"), "utf8")).toBe("A=1\n")
    }
    const [parent, ...children] = yield* history
    expect(parent).toMatchObject({ kind: "deploy-all", state: "succeeded" })
    expect(children).toMatchObject(paths.map((remotePath) => ({
      kind: "deploy",
      state: "succeeded",
      parent: parent?.id,
      subject: { remotePath, serverId: "1" }
    })))
    expect(result.targets.map(({ runId }) => runId)).toEqual(children.map(({ id }) => id))
    const ends = children.map(({ endedAt }) => Date.parse(endedAt ?? ""))
    const starts = children.map(({ startedAt }) => Date.parse(startedAt ?? ""))
    expect(starts.slice(1).every((start, index) => start >= (ends[index] ?? 0))).toBe(true)
    const health = parent?.steps.filter(({ step }) => step.endsWith(": health")) ?? []
    expect(health.map(({ run, status, step }) => [step, status, run])).toEqual(
      children.map(({ id }, index) => [`Main ${paths[index]}: health`, "done", id])
    )
  }), 60_000 * patience)

it.scopedLive("stops at the first failure, and says which target runs what", () =>
  Effect.gen(function*() {
    const { block, deployAll, history } = yield* withTargets
    block("two")
    const result = yield* deployAll()
    expect(result).toMatchObject({ success: false, deployed: 1 })
    expect(result.targets.map(({ outcome }) => outcome)).toEqual(["deployed", "failed", "notTried"])
    expect(result.message).toMatch(
      /^1 of 3 servers runs the new version: Main ~\/containers\/one\. Main ~\/containers\/two: Deploy failed at /
    )
    expect(result.message).toMatch(/Main ~\/containers\/three was not tried: what ran there before runs on\.$/)
    const all = yield* history
    expect(all.map(({ kind, state }) => [kind, state])).toEqual([
      ["deploy-all", "failed"],
      ["deploy", "succeeded"],
      ["deploy", "failed"]
    ])
  }), 60_000 * patience)

it.scopedLive("deploys in parallel; a failure ends none of those that have begun", () =>
  Effect.gen(function*() {
    const { block, deployAll } = yield* withTargets
    block("one")
    const result = yield* deployAll({ parallel: true })
    expect(result.targets.map(({ outcome }) => outcome)).toEqual(["failed", "deployed", "deployed"])
  }), 60_000 * patience)

it.scopedLive("picks the targets of the servers that are named, and refuses others", () =>
  Effect.gen(function*() {
    const { deployAll, history } = yield* withTargets
    expect((yield* Effect.flip(deployAll({ servers: ["Attic"] }))).message).toContain("Attic")
    expect(yield* history).toEqual([])
    expect((yield* deployAll({ servers: ["1"] })).deployed).toBe(3)
  }), 60_000 * patience)

it.scopedLive("is held to its plans, also where several targets are on one server", () =>
  Effect.gen(function*() {
    const { block, deployAll, directory, history, planAll } = yield* withTargets
    const { planHash, targets } = yield* planAll
    expect(targets.map(({ error, plan, server }) => [server, plan?.remotePath, error])).toEqual(
      paths.map((path) => ["Main", path, null])
    )
    writeFileSync(join(directory, ".env"), "A=2\n")
    const moved = yield* Effect.flip(deployAll({ planHash }))
    expect(moved).toMatchObject({ _tag: "DeployPlanMoved", status: 409 })
    expect((yield* history).map(({ kind }) => kind)).toEqual(["deploy-all"])

    const again = yield* planAll
    expect((yield* deployAll({ planHash: again.planHash })).deployed).toBe(3)

    const fewer = paths.slice(0, 2).map((remotePath) => ({ server: "Main", remotePath }))
    writeFileSync(join(directory, "container.json"), JSON.stringify({ targets: fewer }))
    expect((yield* Effect.flip(deployAll({ planHash: again.planHash }))).message).toContain("the list of targets")
    block("four")
  }), 60_000 * patience)

it.scopedLive("cancels the deploy under way with the run, and starts none after it", () =>
  Effect.gen(function*() {
    const { berth, deployAll, history, program, runs, standIns } = yield* withTargets
    yield* program("docker", `case "$*" in *" up "*) sleep 600;; esac\nexec "${standIns.bin}/docker" "$@"`)
    const deploying = yield* Effect.fork(Effect.either(deployAll()))
    const begun = Effect.map(history, ([parent, child]) => ({ parent, child }))
    const { parent } = yield* begun.pipe(
      Effect.repeat({
        until: ({ child }) => child?.steps.some(({ step }) => step === "load") === true,
        schedule: Schedule.spaced("50 millis")
      }),
      Effect.zipRight(begun)
    )
    yield* program("docker", `exec "${standIns.bin}/docker" "$@"`)
    yield* runs(({ cancel }) => cancel(parent?.id ?? ""))
    yield* Fiber.join(deploying)
    const [ended, child, ...others] = yield* history
    expect(others).toEqual([])
    expect(ended).toMatchObject({ kind: "deploy-all", state: "cancelled" })
    expect(child).toMatchObject({ kind: "deploy", state: "cancelled" })
    expect(ended?.error?.error).toMatch(/^The deploy to several servers was cancelled at Main ~\/containers\/one: /)
    expect(ended?.error?.error).toContain("None of 3 servers runs the new version.")
    expect(isEnded(ended?.state ?? "queued")).toBe(true)
    expect(berth).toBeDefined()
  }), 60_000 * patience)
