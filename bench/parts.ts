import { Effect } from "effect"
import type { Scope } from "effect"
import { applications } from "./cases/applications.ts"
import { scans, warmContainers } from "./cases/calls.ts"
import { besides, firstDeploy, redeploy, unchanged } from "./cases/deploys.ts"
import { memory, startUp } from "./cases/endurance.ts"
import { profile, uploadAlone } from "./cases/profile.ts"
import { rollouts } from "./cases/rollout.ts"
import { scale } from "./cases/scale.ts"
import { growingArchives } from "./cases/sizes.ts"
import { durableSteps } from "./cases/steps.ts"
import type { InProcess } from "./inProcess.ts"
import { megabytes, millis, ratio, seconds } from "./numbers.ts"
import { type Remote, startRemote } from "./remote.ts"
import type { Goal, Section } from "./report.ts"
import { rivals } from "./rivals.ts"
import type { Service } from "./service.ts"
import { slowLine, type Stage } from "./stage.ts"

/** Environment of every part of the benchmark. */
export interface Bench {
  readonly stage: Stage
  /** The service as a process of its own, and its programs in this one. */
  readonly service: Service
  readonly berth: InProcess
  readonly rounds: number
  readonly deploys: number
}

/** Result of a part. */
export interface Findings {
  readonly sections: ReadonlyArray<Section>
  readonly goals: ReadonlyArray<Goal>
}

type Part = (bench: Bench) => Effect.Effect<Findings, unknown, Scope.Scope>

const atMost = (work: string, measured: number, most: number, show: (value: number) => string): Goal => ({
  work,
  goal: `≤ ${show(most)}`,
  measured: show(measured),
  met: measured <= most
})

const scp = rivals[0]?.name ?? ""
const deploys: Part = ({ berth, rounds, stage }) =>
  Effect.promise(async () => {
    const first = await firstDeploy(stage, berth, rounds)
    const near = await redeploy(stage, berth, "near", rounds)
    const far = await redeploy(stage, berth, "far", Math.max(1, Math.floor(rounds / 2)))
    const changed = 1_048_576 + stage.images.second.bytes / 100
    return {
      sections: [first.section, near.section, far.section],
      goals: [
        atMost("first deploy, until the image is loaded", besides(first.loaded, scp), 0.9, ratio),
        atMost("first deploy, until the stack is started", besides(first.started, scp), 0.9, ratio),
        atMost("redeploy, 1 MiB changed, until the image is loaded", besides(near.loaded, scp), 0.25, ratio),
        atMost("redeploy, 1 MiB changed, until the stack is started", besides(near.started, scp), 0.25, ratio),
        atMost("redeploy, 1 MiB changed, bytes", far.bytes.get("Berth") ?? Number.NaN, changed, megabytes),
        atMost("the same at 20 ms and 100 Mbit/s, until the image is loaded", besides(far.loaded, scp), 0.05, ratio),
        atMost("the same at 20 ms and 100 Mbit/s, until the stack is started", besides(far.started, scp), 0.05, ratio)
      ]
    }
  })

const nothingNew: Part = ({ berth, rounds, stage }) =>
  Effect.promise(async () => {
    const { all, message, own } = await unchanged(stage, berth, rounds)
    return {
      sections: [{
        title: "Redeploy where nothing changed, loopback",
        columns: ["Berth", "`compose up -d` alone"],
        rows: [[seconds(all), seconds(own)]],
        notes: [`Berth: ${message}`]
      }],
      goals: [atMost("redeploy where nothing changed, beyond compose's own time", all - own, 1_000, millis)]
    }
  })

const uploads: Part = ({ berth, rounds, stage }) =>
  Effect.promise(async () => {
    const { own, scp } = await uploadAlone(stage, berth, rounds)
    return {
      sections: [{
        title: `Upload of ${megabytes(stage.images.first.bytes)} alone, checked by its sha256, loopback`,
        columns: ["Berth", "scp", "Berth / it"],
        rows: [[seconds(own), seconds(scp), ratio(own / scp)]]
      }],
      goals: [atMost("upload alone, beside scp", own / scp, 0.9, ratio)]
    }
  })

const calls: Part = ({ rounds, service, stage }) =>
  Effect.promise(async () => {
    const containers = await warmContainers(stage, service)
    const scan = await scans(stage, service, rounds)
    return {
      sections: [containers.section, scan.section],
      goals: [
        atMost("warm `containers` call at 20 ms", containers.far, 2 * slowLine.roundTripMillis + 40, millis),
        atMost("scan of 200 directories, beside one ssh script", scan.of200, 1.2, ratio)
      ]
    }
  })

const platform: Part = ({ rounds, stage }) =>
  Effect.map(applications(stage.directory, rounds), ({ of300, section }) => ({
    sections: [section],
    goals: [atMost("300 applications behind a 20 ms platform", of300, 25 * 20, millis)]
  }))

const endurance: Part = ({ deploys, stage }) =>
  Effect.map(memory(stage, deploys), ({ last, section }) => ({
    sections: [section],
    goals: [atMost(`resident memory after ${deploys} whole deploys`, last, 140_000_000, megabytes)]
  }))

const sizes: Part = ({ rounds, stage }) =>
  Effect.map(growingArchives(stage.directory, stage.remote, Math.max(1, Math.floor(rounds / 2))), (section) => ({
    sections: [section],
    goals: []
  }))

const profiled: Part = ({ berth, rounds, stage }) =>
  Effect.map(
    Effect.promise(() => profile(stage, berth, Math.max(1, Math.floor(rounds / 2)))),
    (section) => ({ sections: [section], goals: [] })
  )

/** A part that needs only a directory, and how often to measure. */
type AlonePart = (directory: string, rounds: number) => Effect.Effect<Findings, unknown, Scope.Scope>

const start: AlonePart = (directory) =>
  Effect.map(startUp(directory), ({ first, section, serve }) => ({
    sections: [section],
    goals: [
      atMost("first answer after the start", first, 1_500, millis),
      atMost("first answer of `berth serve`", serve.took, 600, millis),
      atMost("idle memory of `berth serve`", serve.memory, 150_000_000, megabytes)
    ]
  }))

const steps: AlonePart = (directory, rounds) =>
  Effect.map(durableSteps(directory, rounds), ({ cpu, section }) => ({
    sections: [section],
    goals: [atMost("processor time of one step that is kept", cpu, 13, millis)]
  }))

const scaled: AlonePart = (directory, rounds) =>
  Effect.map(scale(directory, rounds), (section) => ({ sections: [section], goals: [] }))

const rolledOut = (directory: string, remote: Remote, rounds: number) =>
  Effect.map(rollouts(directory, remote, rounds), ({ failed, section }) => ({
    sections: [section],
    goals: [atMost("failed requests of a bridged redeploy", failed, 0, String)]
  }))

/** The parts that need nothing of the others: neither their images nor their projects. */
export const aloneParts: Readonly<Record<string, AlonePart>> = {
  start,
  steps,
  scale: scaled,
  rollout: (directory, rounds) => Effect.flatMap(startRemote, (remote) => rolledOut(directory, remote, rounds))
}

/** The parts of the benchmark, in the order of the report. */
export const parts: Readonly<Record<string, Part>> = {
  deploys,
  profile: profiled,
  unchanged: nothingNew,
  upload: uploads,
  calls,
  platform,
  start: ({ stage }) => start(stage.directory, 1),
  steps: ({ rounds, stage }) => steps(stage.directory, rounds),
  sizes,
  memory: endurance,
  rollout: ({ rounds, stage }) => rolledOut(stage.directory, stage.remote, Math.max(1, Math.floor(rounds / 2))),
  scale: ({ rounds, stage }) => scaled(stage.directory, rounds)
}
