import { median, megabytes, ratio, seconds } from "../numbers.ts"
import type { Section } from "../report.ts"
import { copyWithScp, deployAs, type Rival, rivals, type Took } from "../rivals.ts"
import type { Service } from "../service.ts"
import { shell } from "../shell.ts"
import { atFirstVersion, compose, emptied, places, type Stage } from "../stage.ts"

/** How the contestants did at one kind of work, by their names; Berth's is "Berth". */
export interface Contest {
  readonly section: Section
  readonly all: ReadonlyMap<string, number>
  readonly bytes: ReadonlyMap<string, number>
}

interface Sample extends Took {
  readonly bytes: number
}

const present = async (rival: Rival) => shell("command -v \"$1\"", [rival.needs]).then(() => true, () => false)
const remotePath = `~/${places.berth}`

const deployBerth = async (stage: Stage, service: Service, version: "first" | "second", serverId: string) => {
  const began = performance.now()
  const { message } = await service.deploy({ projectPath: stage.projects[version], serverId, remotePath })
  return { loaded: Number.NaN, all: performance.now() - began, message }
}

interface Work {
  readonly title: string
  readonly version: "first" | "second"
  readonly line: "near" | "far"
  readonly rounds: number
  /** Brings the server to where the work begins. */
  readonly reset: (place: string) => Promise<void>
  readonly notes?: ReadonlyArray<string>
}

/** Has everybody do the same work in turn, several times. */
const contest = async (stage: Stage, service: Service, work: Work): Promise<Contest> => {
  const { line, reset, rounds, title, version } = work
  const port = line === "near" ? stage.remote.port : stage.slow.port
  const contestants = new Map<string, (() => Promise<Took>) | undefined>([
    ["Berth", () => deployBerth(stage, service, version, line)]
  ])
  for (const rival of rivals) {
    contestants.set(rival.name, await present(rival) ? () => deployAs(rival, stage, version, port) : undefined)
  }
  const samples = new Map<string, Array<Sample>>()
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of contestants) {
      if (run === undefined) continue
      await reset(name === "Berth" ? places.berth : places.rival)
      stage.slow.passed()
      const took = await run()
      const { down, up } = stage.slow.passed()
      samples.set(name, [...samples.get(name) ?? [], { ...took, bytes: up + down }])
    }
  }
  const all = new Map([...samples].map(([name, took]) => [name, median(took.map((sample) => sample.all))]))
  const bytes = new Map([...samples].map(([name, took]) => [name, median(took.map((sample) => sample.bytes))]))
  const berth = all.get("Berth") ?? Number.NaN
  const rows = [...contestants.keys()].map((name) => {
    const took = samples.get(name)
    const whole = all.get(name)
    if (took === undefined || whole === undefined) {
      return [name, "not installed here", "", "", ...line === "far" ? [""] : []]
    }
    const loaded = median(took.map((sample) => sample.loaded))
    return [
      name,
      seconds(whole),
      Number.isNaN(loaded) ? "" : seconds(loaded),
      name === "Berth" ? "" : ratio(berth / whole),
      ...line === "far" ? [megabytes(bytes.get(name) ?? 0)] : []
    ]
  })
  const columns = [
    "who",
    "all",
    "until the image is loaded",
    "Berth / it",
    ...line === "far" ? ["bytes both ways"] : []
  ]
  return { section: { title, columns, rows, notes: work.notes ?? [] }, all, bytes }
}

/** A first deploy to an empty server. */
export const firstDeploy = (stage: Stage, service: Service, rounds: number): Promise<Contest> =>
  contest(stage, service, {
    title: `First deploy of ${megabytes(stage.images.first.bytes)}, loopback`,
    version: "first",
    line: "near",
    rounds,
    reset: () => emptied(stage)
  })

/** A deploy of the second version where the first one runs. */
export const redeploy = (stage: Stage, service: Service, line: "near" | "far", rounds: number): Promise<Contest> =>
  contest(stage, service, {
    title: `Redeploy with 1 MiB of ${megabytes(stage.images.second.bytes)} changed, ${
      line === "near" ? "loopback" : "20 ms and 100 Mbit/s"
    }`,
    version: "second",
    line,
    rounds,
    reset: (place) => atFirstVersion(stage, place)
  })

/** A deploy of what runs already, and how long compose itself takes to find that out. */
export const unchanged = async (stage: Stage, service: Service, rounds: number) => {
  const berth: Array<number> = []
  const own: Array<number> = []
  let message = ""
  await atFirstVersion(stage, places.berth)
  await deployBerth(stage, service, "second", "near")
  for (let round = 0; round < rounds; round++) {
    const again = await deployBerth(stage, service, "second", "near")
    berth.push(again.all)
    message = again.message
    const { millis } = await shell(`compose() { ${compose}; }; cd "$1"; compose up -d >/dev/null 2>&1`, [
      `${stage.remote.home}/${places.berth}`
    ], { env: stage.remote.env })
    own.push(millis)
  }
  return { berth: median(berth), own: median(own), message }
}

/** An upload alone, through the deploy's own program, beside scp. */
export const upload = async (
  stage: Stage,
  rounds: number,
  send: () => Promise<unknown>
): Promise<{ readonly berth: number; readonly scp: number }> => {
  await emptied(stage)
  const berth: Array<number> = []
  const scp: Array<number> = []
  await send()
  for (let round = 0; round < rounds; round++) {
    await shell("rm -rf \"$1/containers/app/.berth/incoming\"", [stage.remote.home])
    const began = performance.now()
    await send()
    berth.push(performance.now() - began)
    await shell("rm -f \"$1/rival/copy.tar\"", [stage.remote.home])
    scp.push((await copyWithScp(stage, stage.remote.port)).millis)
  }
  return { berth: median(berth), scp: median(scp) }
}
