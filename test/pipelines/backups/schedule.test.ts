import { Path } from "@effect/platform"
import { beforeAll, describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger, Option, Ref } from "effect"
import { keepBackups } from "../../../src/pipelines/backups/schedule.ts"
import type { NotifiedBackup } from "../../../src/schema/notify.ts"
import { RunsLive } from "../../../src/services/runs/engine.ts"
import { InstanceLive, Runs } from "../../../src/services/runs/Runs.ts"
import { type RunHistory, runStoreLayer } from "../../../src/services/runs/store.ts"
import { localFilesTest, localProcessesTest } from "../../../src/testing/LocalFilesTest.ts"
import { locksTest, makeRunStoreMemory } from "../../../src/testing/RunsTest.ts"
import { settingsTest, storedServer } from "../../../src/testing/SettingsTest.ts"
import { SshAsked, sshTest } from "../../../src/testing/SshTest.ts"
import { notifierTest } from "../../layers/NotifierTest.ts"

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
const backups = {
  every: "1 hour",
  items: { database: { kind: "postgres", service: "db" }, uploads: { volume: "files" } }
}
const { every: _, ...unscheduled } = backups
const release = (definition: object, deployedAt: string) => ({
  stdout: ["release\t1\tcurrent", `at\t${deployedAt}`, `backups\t${JSON.stringify(definition)}`, ""].join("\n")
})
const taken = (id: number, at: string, items: ReadonlyArray<string> = ["database", "uploads"]) =>
  [`backup\t${id}`, `at\t${at}`, ...items.map((name) => `data\t${name}\tgz\t10\tabc\t1`), ""].join("\n")

/** A service with two projects, whose server has these backups and takes none, and what its schedule does at once. */
const schedule = (
  {
    declared = backups,
    deployed = backups,
    deployedAt = ago(5),
    listed = "",
    environments = {},
    history = (kept) => kept,
    root = "/srv",
    services = 1
  }: {
    readonly declared?: object
    readonly deployed?: object
    readonly listed?: string
    readonly deployedAt?: string
    readonly environments?: object
    /** Changes the view that the services have of the runs that they share. */
    readonly history?: (kept: RunHistory["Type"]) => RunHistory["Type"]
    /** Number of services, one after the other, that share their runs. */
    readonly services?: number
    readonly root?: string
  } = {}
) =>
  Effect.gen(function*() {
    const told = yield* Ref.make<ReadonlyArray<readonly [judged: NotifiedBackup, isOld: boolean]>>([])
    const notifier = notifierTest({
      backupJudged: (judged, isOld) => Ref.update(told, (before) => [...before, [judged, isOld] as const])
    })
    const server = storedServer({ id: "main", name: "Main" })
    const world = Layer.mergeAll(
      localFilesTest({
        "/srv/shop/container.json": JSON.stringify({
          serverId: "main",
          remotePath: "~/shop",
          backups: declared,
          environments
        }),
        "/srv/shop/compose.yml": "services: {}\n",
        "/srv/notes/container.json": JSON.stringify({ serverId: "main", remotePath: "~/notes" })
      }),
      localProcessesTest({}),
      Path.layer,
      RunsLive.pipe(
        Layer.provide(runStoreLayer(
          Effect.map(makeRunStoreMemory, (store) => ({ ...store, history: history(store.history) }))
        )),
        Layer.provideMerge(locksTest)
      ),
      InstanceLive,
      notifier
    ).pipe(Layer.provideMerge(settingsTest({ "projects.root": root }, [server])))
    return yield* Effect.gen(function*() {
      const runs = yield* Runs
      const asked = yield* SshAsked
      for (let service = 0; service < services; service++) {
        const fiber = yield* Effect.fork(keepBackups)
        // Settled once nothing more was asked for a while and no run is under way.
        let before = -1
        yield* Effect.all([asked, runs.list({})]).pipe(
          Effect.delay("400 millis"),
          Effect.repeat({
            while: ([all, { runs }]) => {
              const isSettled = all.length === before && runs.every(({ endedAt }) => endedAt !== null)
              before = all.length
              return !isSettled
            },
            times: 50
          })
        )
        yield* Fiber.interrupt(fiber)
      }
      return { runs: (yield* runs.list({})).runs, told: yield* Ref.get(told), asked: yield* asked }
    }).pipe(
      Effect.provide(sshTest({
        "listing the releases": release(deployed, deployedAt),
        "listing the backups": { stdout: listed },
        "taking the deploy lock": { code: 1, stderr: "no space left" }
      })),
      Effect.provide(world)
    )
  }).pipe(Effect.scoped)

// The first look would wait for it, and a test take that for the end.
beforeAll(() => import("../../../src/pipelines/backups/backups.ts"))

// Each waits for its service to have settled.
describe.concurrent("scheduled backups", () => {
  it.live("are taken at once where there is none, and after a failure not before its pause", () =>
    Effect.gen(function*() {
      const { asked, runs, told } = yield* schedule({ services: 2 })
      expect(runs).toMatchObject([{ kind: "backup", requestedBy: { name: "schedule" }, subject: { serverId: "main" } }])
      // Of the other project, nothing is asked.
      expect(asked.every(({ args }) => !JSON.stringify(args).includes("notes"))).toBe(true)
      expect(told.every(([, isOld]) => !isOld)).toBe(true)
    }))

  it.live("are taken once by services that share their runs and look in the same moment", () =>
    Effect.gen(function*() {
      // None finds the attempt of the other one before it begins its own, which the store then refuses.
      const { runs, told } = yield* schedule({
        services: 2,
        history: (kept) => ({
          ...kept,
          findByKey: () => Effect.succeedNone,
          insert: (stored) =>
            Effect.flatMap(
              Option.match(stored.idempotency, {
                onNone: () => Effect.succeedNone,
                onSome: ({ key }) => kept.findByKey(key, 0)
              }),
              Option.match({ onNone: () => kept.insert(stored), onSome: Effect.succeedSome })
            )
        })
      })
      expect(runs).toHaveLength(1)
      // The other one goes on.
      expect(told).toHaveLength(2)
    }))

  it.live("are those of an environment where it alone has an interval", () =>
    Effect.gen(function*() {
      const { runs } = yield* schedule({
        declared: unscheduled,
        environments: { staging: { server: "main", remotePath: "~/staging", backups } }
      })
      expect(runs).toMatchObject([{ subject: { remotePath: "~/staging" } }])
    }))

  it.live.each(
    [
      ["10 minutes", 9, 1],
      ["10 minutes", 11, 2],
      ["1 hour", 14, 1],
      ["1 hour", 16, 2],
      ["30 days", 59, 1],
      ["30 days", 61, 2]
    ] as const
  )(
    "are tried again every %s, %i minutes after a failure: %i attempts",
    ([every, minutes, attempts]) =>
      Effect.gen(function*() {
        const deployed = { ...backups, every }
        const { runs } = yield* schedule({
          deployed,
          services: 2,
          history: (kept) => ({
            ...kept,
            findByKey: (key, since) =>
              Effect.map(
                kept.findByKey(key, since),
                Option.map((keyed) => ({ ...keyed, run: { ...keyed.run, endedAt: ago(minutes) } }))
              )
          })
        })
        expect(runs).toHaveLength(attempts)
      })
  )

  it.live.each<readonly [name: string, count: number, given: NonNullable<Parameters<typeof schedule>[0]>]>([
    ["the last one is young", 0, { listed: taken(1, ago(30)) }],
    ["the last one is as old as the interval", 1, { listed: taken(1, ago(61)) }],
    ["the young one has a part of the items", 1, { listed: taken(1, ago(61)) + taken(2, ago(1), ["database"]) }],
    ["the interval of the project is not deployed", 0, {
      deployed: { ...backups, every: "1 day" },
      listed: taken(1, ago(61))
    }],
    ["the release has no interval", 0, { deployed: unscheduled }],
    ["the project has no interval", 0, { declared: unscheduled }]
  ])("where %s: %i", ([, count, given]) =>
    Effect.gen(function*() {
      const { asked, runs } = yield* schedule(given)
      expect(runs).toHaveLength(count)
      if (given.declared !== undefined) expect(asked).toEqual([])
    }))

  it.live("are not missed on a machine without a directory of projects", () =>
    Effect.gen(function*() {
      const logged: Array<unknown> = []
      const logger = Logger.make(({ message }) => logged.push(message))
      const { asked } = yield* Effect.provide(
        schedule({ root: "/nowhere" }),
        Logger.replace(Logger.defaultLogger, logger)
      )
      expect([asked, logged]).toEqual([[], []])
    }))

  it.live.each([[30, false], [90, false], [119, false], [121, true]] as const)(
    "are told as old after twice the interval: %i minutes, %s",
    ([minutes, isOld]) =>
      Effect.gen(function*() {
        const last = ago(minutes)
        const { told } = yield* schedule({ listed: taken(1, last) })
        const judged = { server: "Main", remotePath: "~/shop", every: 3_600_000, last: Date.parse(last) }
        expect(told).toEqual([[judged, isOld]])
        const first = yield* schedule({ deployedAt: last })
        expect(first.told).toEqual([[{ ...judged, last: null }, isOld]])
      })
  )
})
