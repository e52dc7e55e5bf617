import { mkdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { median, millis, ratio } from "../numbers.ts"
import type { Remote } from "../remote.ts"
import type { Section } from "../report.ts"
import { master } from "../rivals.ts"
import type { Service } from "../service.ts"
import { shell } from "../shell.ts"
import { type Stage, stopAll } from "../stage.ts"

const calls = 20

const timed = async (rounds: number, work: () => Promise<unknown>) => {
  const took: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    const began = performance.now()
    await work()
    took.push(performance.now() - began)
  }
  return median(took)
}

const rows = (name: string, { berth, ssh }: Pair) => [name, millis(berth), millis(ssh), ratio(berth / ssh)]
const columns = ["", "Berth", "ssh on a warm master connection", "Berth / it"]

interface Pair {
  readonly berth: number
  readonly ssh: number
}

/** Does the same work through the service and through ssh on a connection that is open already. */
const pair = async (
  stage: Stage,
  service: Service,
  line: "near" | "far",
  work: { readonly path: string; readonly command: string; readonly rounds: number }
): Promise<Pair> => {
  const ssh = await master(stage, line === "near" ? stage.remote.port : stage.slow.port)
  const warm = () => service.get(`/api/servers/${line}/${work.path}`)
  try {
    await warm()
    await ssh.run(work.command)
    return { berth: await timed(work.rounds, warm), ssh: await timed(work.rounds, () => ssh.run(work.command)) }
  } finally {
    await ssh.close()
  }
}

/** `containers` on a warm connection, near and far. */
export const warmContainers = async (stage: Stage, service: Service) => {
  await stopAll(stage.remote)
  const work = { path: "containers", command: "docker ps", rounds: calls }
  const near = await pair(stage, service, "near", work)
  const far = await pair(stage, service, "far", work)
  const section: Section = {
    title: `A warm \`containers\` call, median of ${calls}`,
    columns,
    rows: [rows("loopback", near), rows("20 ms", far)]
  }
  return { section, far: far.berth }
}

const directories = async ({ home, user }: Remote, count: number) => {
  await rm(join(home, "containers"), { recursive: true, force: true })
  for (let index = 0; index < count; index++) {
    const directory = join(home, "containers", `project-${index}`)
    await mkdir(directory, { recursive: true })
    await writeFile(join(directory, "compose.yml"), `services:\n  app:\n    image: project-${index}:latest\n`)
    await writeFile(join(directory, ".env"), `HOST_PORT=${2000 + index}\n`)
  }
  await shell("chown -R \"$1\": \"$2\"", [user, join(home, "containers")])
}

const script = "cd containers && for d in */; do echo \"$d\"; ls -A \"$d\"; cat \"$d/compose.yml\"; done"

/** A scan of more and more directories; the time of 200 is compared with a goal. */
export const scans = async (stage: Stage, service: Service, rounds: number) => {
  const results: Array<readonly [count: number, line: string, took: Pair]> = []
  for (const count of [1, 10, 50, 200, 500]) {
    await directories(stage.remote, count)
    for (const line of ["near", "far"] as const) {
      const took = await pair(stage, service, line, { path: "scan", command: script, rounds })
      results.push([count, line === "near" ? "loopback" : "20 ms", took])
    }
  }
  await rm(join(stage.remote.home, "containers"), { recursive: true, force: true })
  const section: Section = {
    title: "A scan of the directories on a server",
    columns: ["directories", ...columns],
    rows: results.map(([count, line, took]) => [String(count), ...rows(line, took)]),
    notes: [`The script: \`${script}\``]
  }
  const [of200] = results.flatMap(([count, line, { berth, ssh }]) =>
    count === 200 && line === "loopback" ? [berth / ssh] : []
  )
  return { section, of200: of200 ?? Number.NaN }
}
