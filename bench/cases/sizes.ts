import { Effect } from "effect"
import { join } from "node:path"
import { buildImages } from "../images.ts"
import { median, megabytes, seconds } from "../numbers.ts"
import type { Remote } from "../remote.ts"
import type { Section } from "../report.ts"
import { deployAs, rivals } from "../rivals.ts"
import { startService } from "../service.ts"
import { emptied, makeStage, places, settingsFor } from "../stage.ts"

const sizes = [10, 100, 1_000]

/** First deploys of larger and larger images, beside the first of the rivals. */
export const growingArchives = (directory: string, remote: Remote, rounds: number) =>
  Effect.gen(function*() {
    const rows: Array<ReadonlyArray<string>> = []
    for (const size of sizes) {
      rows.push(
        yield* Effect.scoped(Effect.gen(function*() {
          const images = yield* buildImages(directory, size)
          const stage = yield* makeStage(join(directory), remote, images)
          const service = yield* startService(directory, settingsFor(stage))
          const [rival] = rivals
          return yield* Effect.promise(async () => {
            const berth: Array<number> = []
            const other: Array<number> = []
            for (let round = 0; round < rounds; round++) {
              await emptied(stage)
              const began = performance.now()
              await service.deploy({
                projectPath: stage.projects.first,
                serverId: "near",
                remotePath: `~/${places.berth}`
              })
              berth.push(performance.now() - began)
              await emptied(stage)
              if (rival !== undefined) other.push((await deployAs(rival, stage, "first", remote.port)).started)
            }
            const { peak } = await service.memory()
            return [
              megabytes(images.first.bytes),
              seconds(median(berth)),
              seconds(median(other)),
              (median(berth) / median(other)).toFixed(2),
              megabytes(peak)
            ]
          })
        }))
      )
    }
    const section: Section = {
      title: "First deploys of larger and larger archives, loopback",
      columns: ["archive", "Berth, until healthy", rivals[0]?.name ?? "", "Berth / it", "Berth's highest memory"],
      rows
    }
    return section
  })
