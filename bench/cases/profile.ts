import { Effect } from "effect"
import { uploadFiles } from "../../src/pipelines/deploy/send.ts"
import { StepsLive } from "../../src/services/runs/Steps.ts"
import { Settings } from "../../src/services/settings/Settings.ts"
import { type InProcess, timedDeploy } from "../inProcess.ts"
import { median, millis } from "../numbers.ts"
import type { Section } from "../report.ts"
import { atFirstVersion, emptied, places, type Stage } from "../stage.ts"
import { upload } from "./deploys.ts"

const steps = ["preflight", "upload", "load", "start", "health"]
const remotePath = `~/${places.berth}`

/** Profiles a deploy step by step, with the service's programs inside this process. */
export const profile = async (stage: Stage, berth: InProcess, rounds: number): Promise<Section> => {
  const times = async (serverId: "near" | "far", version: "first" | "second", reset: () => Promise<void>) => {
    const rows: Array<ReadonlyArray<number>> = []
    for (let round = 0; round < rounds; round++) {
      await reset()
      const { done } = await timedDeploy(berth, { projectPath: stage.projects[version], serverId, remotePath })
      const ends = steps.map((step) => done.get(step) ?? Number.NaN)
      rows.push(ends.map((end, index) => end - (ends[index - 1] ?? 0)))
    }
    return steps.map((_, index) => median(rows.map((row) => row[index] ?? Number.NaN)))
  }
  const first = await times("near", "first", () => emptied(stage))
  const again = await times("near", "second", () => atFirstVersion(stage, places.berth))
  const far = await times("far", "second", () => atFirstVersion(stage, places.berth))
  const same = await times("near", "second", async () => undefined)
  return {
    title: "Where the time of a deploy goes",
    columns: ["", ...steps],
    rows: [
      ["first deploy, loopback", ...first.map(millis)],
      ["redeploy, loopback", ...again.map(millis)],
      ["redeploy, 20 ms and 100 Mbit/s", ...far.map(millis)],
      ["redeploy of what runs, loopback", ...same.map(millis)]
    ],
    notes: [
      "`start` is compose's own time, the same for whoever runs it. `health` waits until containers without a health " +
      "check have stayed up for a second, which nobody else does."
    ]
  }
}

/** The upload of an archive alone, checked on the server, beside scp. */
export const uploadAlone = (stage: Stage, berth: InProcess, rounds: number) => {
  const { bytes, path } = stage.images.first
  const send = Effect.gen(function*() {
    const server = yield* (yield* Settings).server("near")
    yield* uploadFiles({ remotePath, server }, [{ name: "image.tar", path, size: bytes, mode: "644" }], new Map())
  })
  return upload(stage, rounds, () => berth.runPromise(Effect.provide(send, StepsLive)))
}
