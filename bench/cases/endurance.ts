import { Effect } from "effect"
import { median, megabytes, millis } from "../numbers.ts"
import type { Section } from "../report.ts"
import { startService } from "../service.ts"
import { emptied, places, settingsFor, type Stage } from "../stage.ts"

const starts = 5

/** How soon the service answers after its start. */
export const startUp = (directory: string) =>
  Effect.gen(function*() {
    const took: Array<number> = []
    for (let start = 0; start < starts; start++) {
      took.push(yield* Effect.scoped(Effect.map(startService(directory, {}), ({ startMillis }) => startMillis)))
    }
    const first = median(took)
    const section: Section = {
      title: "From the start to the first answer",
      columns: ["median", "slowest"],
      rows: [[millis(first), millis(Math.max(...took))]]
    }
    return { section, first }
  })

/** How much memory the service holds after many deploys of whole archives. */
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
