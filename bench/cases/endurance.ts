import { Effect } from "effect"
import { load, median, megabytes, millis } from "../numbers.ts"
import type { Section } from "../report.ts"
import { type Service, type starts as ways, startService } from "../service.ts"
import { emptied, places, settingsFor, type Stage } from "../stage.ts"

const starts = 5
/** After the store of runs is open and what an earlier process left was looked for. */
const idleAfter = "5 seconds"

const oneStart = (directory: string, how: keyof typeof ways) =>
  Effect.gen(function*() {
    const service: Service = yield* startService(directory, {}, how)
    yield* Effect.sleep(idleAfter)
    const { now } = yield* Effect.promise(() => service.memory())
    return { took: service.startMillis, cpu: service.startCpuMillis, memory: now }
  }).pipe(Effect.scoped)

const startedBy = (directory: string, how: keyof typeof ways) =>
  Effect.gen(function*() {
    const all = yield* Effect.forEach(Array.from({ length: starts }), () => oneStart(directory, how))
    const of = (key: "took" | "cpu" | "memory") => all.map((one) => one[key])
    return {
      how,
      took: median(of("took")),
      slowest: Math.max(...of("took")),
      cpu: median(of("cpu")),
      memory: median(of("memory"))
    }
  })

/** Measures the time from start to the first answer, and the memory of the idle service. */
export const startUp = (directory: string) =>
  Effect.gen(function*() {
    const npm = yield* startedBy(directory, "npm start")
    const serve = yield* startedBy(directory, "berth serve")
    const section: Section = {
      title: "From the start to the first answer",
      columns: ["with", "median", "slowest", "processor time", "idle memory, 5 s later"],
      rows: [npm, serve].map(({ cpu, how, memory, slowest, took }) => [
        `\`${how}\``,
        millis(took),
        millis(slowest),
        millis(cpu),
        megabytes(memory)
      ]),
      notes: [load()]
    }
    return { section, first: npm.took, serve }
  })

/** Measures the memory of the service after many deploys of whole archives. */
export const memory = (stage: Stage, deploys: number) =>
  Effect.scoped(Effect.gen(function*() {
    const service = yield* startService(stage.directory, settingsFor(stage, "full"))
    yield* Effect.promise(() => emptied(stage))
    const resident: Array<readonly [after: number, now: number, peak: number]> = []
    const measure = async (after: number) => {
      const { now, peak } = await service.memory()
      resident.push([after, now, peak])
    }
    yield* Effect.promise(async () => {
      await measure(0)
      for (let deploy = 1; deploy <= deploys; deploy++) {
        await service.deploy({
          projectPath: deploy % 2 === 1 ? stage.projects.first : stage.projects.second,
          serverId: "near",
          remotePath: `~/${places.berth}`
        })
        if ([1, 10].includes(deploy) || deploy === deploys) await measure(deploy)
      }
    })
    const section: Section = {
      title: `Resident memory over deploys of ${megabytes(stage.images.first.bytes)}, each sent whole`,
      columns: ["deploys", "now", "highest so far"],
      rows: resident.map(([after, now, peak]) => [String(after), megabytes(now), megabytes(peak)])
    }
    return { section, last: resident.at(-1)?.[1] ?? Number.NaN }
  }))
