import { NodeRuntime } from "@effect/platform-node"
import { Cause, Effect } from "effect"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { buildImages } from "./images.ts"
import { inProcess } from "./inProcess.ts"
import { machine } from "./machine.ts"
import { setting } from "./numbers.ts"
import { aloneParts, type Findings, parts } from "./parts.ts"
import { missing, startRemote } from "./remote.ts"
import { goalsTable, sectionText } from "./report.ts"
import { startService } from "./service.ts"
import { makeStage, settingsFor } from "./stage.ts"

const results = fileURLToPath(new URL("results/", import.meta.url))

const temporary = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "berth-bench-"))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
)

const report = (title: string, on: string, found: ReadonlyArray<Findings>) => {
  const goals = found.flatMap(({ goals }) => goals)
  return [
    `# ${title}`,
    `\`npm run bench\` on ${on}. Ratios and times are medians of one run, in which the contestants took turns.`,
    ...goals.length === 0 ? [] : ["## Goals", goalsTable(goals)],
    ...found.flatMap(({ sections }) => sections.map(sectionText))
  ].join("\n\n") + "\n"
}

const print = ({ sections }: Findings) => console.log(`${sections.map(sectionText).join("\n\n")}\n`)
const printAlone = (found: Findings) => {
  print(found)
  if (found.goals.length > 0) console.log(`${goalsTable(found.goals)}\n`)
}

const program = Effect.gen(function*() {
  const chosen = process.argv.slice(2)
  const unknown = chosen.filter((name) => !Object.hasOwn(parts, name))
  if (unknown.length > 0) {
    return yield* Effect.fail(`No part is called ${unknown.join(", ")}: there are ${Object.keys(parts).join(", ")}.`)
  }

  const directory = yield* temporary
  const rounds = setting("BENCH_ROUNDS", 5)
  const alone = chosen.flatMap((name) => aloneParts[name] ?? [])
  if (chosen.length > 0 && alone.length === chosen.length) {
    return yield* Effect.forEach(alone, (part) => Effect.map(Effect.scoped(part(directory, rounds)), printAlone), {
      discard: true
    })
  }
  const lacking = yield* Effect.promise(missing)
  if (lacking.length > 0) return yield* Effect.fail(`The benchmark needs ${lacking.join(", ")}.`)
  console.error("Building the images ...")
  const images = yield* buildImages(directory, setting("BENCH_MEGABYTES", 200))
  const remote = yield* startRemote
  const stage = yield* makeStage(directory, remote, images)
  const service = yield* startService(directory, settingsFor(stage))
  const berth = yield* inProcess(directory, settingsFor(stage))
  const bench = { stage, service, berth, rounds, deploys: setting("BENCH_DEPLOYS", 50) }

  const found: Array<Findings> = []
  for (const [name, part] of Object.entries(parts)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue
    console.error(`Measuring: ${name} ...`)
    const findings = yield* Effect.scoped(part(bench))
    found.push(findings)
    print(findings)
  }
  console.log(goalsTable(found.flatMap(({ goals }) => goals)))
  if (chosen.length > 0) return
  const date = new Date().toISOString().slice(0, 10)
  const { compose, words } = yield* Effect.promise(() => machine(remote.env))
  const file = join(results, `${date}-compose-${compose.replaceAll(/[^\w.-]/g, "")}.md`)
  yield* Effect.promise(async () => {
    await mkdir(results, { recursive: true })
    await writeFile(file, report(`Berth beside what one would do by hand, ${date}`, words, found))
  })
  console.error(`Written to ${file}`)
})

NodeRuntime.runMain(
  Effect.scoped(program).pipe(Effect.tapErrorCause((cause) => Effect.sync(() => console.error(Cause.pretty(cause))))),
  { disableErrorReporting: true }
)
