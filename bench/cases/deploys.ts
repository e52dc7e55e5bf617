import { type InProcess, timedDeploy } from "../inProcess.ts"
import { median, megabytes, ratio, seconds } from "../numbers.ts"
import type { Section } from "../report.ts"
import { copyWithScp, deployAs, type Rival, rivals, type Took } from "../rivals.ts"
import { shell } from "../shell.ts"
import { atFirstVersion, compose, emptied, places, type Stage } from "../stage.ts"

/** Results of the contestants at one kind of work, by name, in milliseconds and bytes. */
export interface Contest {
  readonly section: Section
  /** Until the image was loaded. */
  readonly loaded: ReadonlyMap<string, number>
  /** Until `compose up` had ended. */
  readonly started: ReadonlyMap<string, number>
  readonly bytes: ReadonlyMap<string, number>
}

interface Sample extends Took {
  readonly bytes: number
  /** Until the stack was seen to be healthy; only Berth looks. */
  readonly healthy?: number
}

const berthName = "Berth"

/** Ratio of Berth's number to another's. */
export const besides = (numbers: ReadonlyMap<string, number>, name: string): number =>
  (numbers.get(berthName) ?? Number.NaN) / (numbers.get(name) ?? Number.NaN)

const present = async (rival: Rival) => shell("command -v \"$1\"", [rival.needs]).then(() => true, () => false)
const remotePath = `~/${places.berth}`

const deployBerth = async (stage: Stage, berth: InProcess, version: "first" | "second", serverId: string) => {
  const { done, result } = await timedDeploy(berth, { projectPath: stage.projects[version], serverId, remotePath })
  const at = (step: string) => done.get(step) ?? Number.NaN
  return { loaded: at("load"), started: at("start"), healthy: at("answer"), message: result.message }
}

interface Work {
  readonly title: string
  readonly version: "first" | "second"
  readonly line: "near" | "far"
  readonly rounds: number
  /** Brings the server to where the work begins. */
  readonly reset: (place: string) => Promise<void>
}

/** Has everybody do the same work in turn, several times. */
const contest = async (stage: Stage, berth: InProcess, work: Work): Promise<Contest> => {
  const { line, reset, rounds, title, version } = work
  const port = line === "near" ? stage.remote.port : stage.slow.port
  const contestants = new Map<string, (() => Promise<Omit<Sample, "bytes">>) | undefined>([
    [berthName, () => deployBerth(stage, berth, version, line)]
  ])
  for (const rival of rivals) {
    contestants.set(rival.name, await present(rival) ? () => deployAs(rival, stage, version, port) : undefined)
  }
  const samples = new Map<string, Array<Sample>>()
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of contestants) {
      if (run === undefined) continue
      await reset(name === berthName ? places.berth : places.rival)
      stage.slow.passed()
      const took = await run()
      const { down, up } = stage.slow.passed()
      samples.set(name, [...samples.get(name) ?? [], { ...took, bytes: up + down }])
    }
  }
  const medians = (of: (sample: Sample) => number) =>
    new Map([...samples].map(([name, took]) => [name, median(took.map(of))]))
  const results = {
    loaded: medians(({ loaded }) => loaded),
    started: medians(({ started }) => started),
    bytes: medians(({ bytes }) => bytes)
  }
  const rows = [...contestants.keys()].map((name) => {
    if (!samples.has(name)) return [name, "not installed here"]
    const time = (of: ReadonlyMap<string, number>) => [
      seconds(of.get(name) ?? Number.NaN),
      name === berthName ? "" : ratio(besides(of, name))
    ]
    const wire = line === "far" ? [megabytes(results.bytes.get(name) ?? Number.NaN)] : []
    return [name, ...time(results.loaded), ...time(results.started), ...wire]
  })
  const columns = [
    "who",
    "image loaded",
    "Berth / it",
    "stack started",
    "Berth / it",
    ...line === "far" ? ["bytes"] : []
  ]
  const healthy = median((samples.get(berthName) ?? []).flatMap(({ healthy }) => healthy ?? []))
  const first = rivals[0]?.name ?? ""
  const [loaded, started] = [results.loaded.get(first) ?? Number.NaN, results.started.get(first) ?? Number.NaN]
  const notes = [
    `Berth answers after ${seconds(healthy)}, when it has seen that the stack is healthy. ` +
    `\`compose up\`, which is the same for all, is ${ratio((started - loaded) / started)} of the time of ${first}.`
  ]
  return { section: { title, columns, rows, notes }, ...results }
}

/** A first deploy to an empty server. */
export const firstDeploy = (stage: Stage, berth: InProcess, rounds: number): Promise<Contest> =>
  contest(stage, berth, {
    title: `First deploy of ${megabytes(stage.images.first.bytes)}, loopback`,
    version: "first",
    line: "near",
    rounds,
    reset: () => emptied(stage)
  })

/** A deploy of the second version where the first one runs. */
export const redeploy = (stage: Stage, berth: InProcess, line: "near" | "far", rounds: number): Promise<Contest> =>
  contest(stage, berth, {
    title: `Redeploy with 1 MiB of ${megabytes(stage.images.second.bytes)} changed, ${
      line === "near" ? "loopback" : "20 ms and 100 Mbit/s"
    }`,
    version: "second",
    line,
    rounds,
    reset: (place) => atFirstVersion(stage, place)
  })

/** A deploy of what runs already, and how long compose itself takes to find that out. */
export const unchanged = async (stage: Stage, berth: InProcess, rounds: number) => {
  const all: Array<number> = []
  const own: Array<number> = []
  let message = ""
  await atFirstVersion(stage, places.berth)
  await deployBerth(stage, berth, "second", "near")
  for (let round = 0; round < rounds; round++) {
    const again = await deployBerth(stage, berth, "second", "near")
    all.push(again.healthy)
    message = again.message
    const { millis } = await shell(`compose() { ${compose}; }; cd "$1"; compose up -d >/dev/null 2>&1`, [
      `${stage.remote.home}/${places.berth}`
    ], { env: stage.remote.env })
    own.push(millis)
  }
  return { all: median(all), own: median(own), message }
}

/** An upload alone, through the deploy's own program, beside scp. */
export const upload = async (
  stage: Stage,
  rounds: number,
  send: () => Promise<unknown>
): Promise<{ readonly own: number; readonly scp: number }> => {
  await emptied(stage)
  const own: Array<number> = []
  const scp: Array<number> = []
  await send()
  for (let round = 0; round < rounds; round++) {
    await shell("rm -rf \"$1/containers/app/.berth/incoming\"", [stage.remote.home])
    const began = performance.now()
    await send()
    own.push(performance.now() - began)
    await shell("rm -f \"$1/rival/copy.tar\"", [stage.remote.home])
    scp.push((await copyWithScp(stage, stage.remote.port)).millis)
  }
  return { own: median(own), scp: median(scp) }
}
