import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { parseOutcome } from "../../src/remote/activation.ts"
import { inventoryCommand, parseContents, parseInventory } from "../../src/remote/compare.ts"
import { parsePreflight, parseReceived, preflightCommand } from "../../src/remote/deploy.ts"
import { parseReleases, releasesCommand } from "../../src/remote/releases.ts"
import { parseSample, sampleCommand } from "../../src/remote/sample.ts"
import {
  overviewCommand,
  parseDisks,
  parseOverview,
  parsePorts,
  parseScan,
  scanCommand
} from "../../src/remote/server.ts"
import {
  parseContainers,
  parseInspect,
  parseStack,
  parseStats,
  parseUnhealthyLogs,
  stackCommand
} from "../../src/remote/stack.ts"
import { type AnswerLimit, countAnswer, usualLimit } from "../../src/services/ssh/Ssh.ts"
import { liveHeap } from "../fixtures/programs/heap.ts"

const path = "~/containers/app"
const preflight = { remotePath: path, images: [], files: [], layers: false, thorough: false }
const state = stackCommand("look", path, false).limit

/** Reader and limit of each answer, and records of the largest size. */
const parsers: ReadonlyArray<
  readonly [
    name: string,
    read: (text: string) => unknown,
    limit: AnswerLimit | undefined,
    records: ReadonlyArray<string>
  ]
> = [
  ["unhealthyLogs", parseUnhealthyLogs, undefined, ["container\t%\n", "check\t1\n", "line\tx\n"]],
  ["compare", parseInventory, inventoryCommand(path, [], false).limit, ["s 1 ./%\0", `${"a".repeat(64)}  ./%\0`]],
  ["contents", parseContents, inventoryCommand(path, [], false).limit, ["%\0"]],
  ["containers", parseContainers, undefined, ["%\tUp\t80/tcp\n", "a,".repeat(20)]],
  ["preflight", parsePreflight, preflightCommand(preflight, false).limit, [
    "image\t% %\n",
    "chain\t% [\"a\"]\n",
    `chain\t% ${"[".repeat(2_000)}\n`,
    "\t"
  ]],
  ["inspect", parseInspect, state, [
    `container\t%|a|b|c|0|{"Status":"x","ExitCode":0,"StartedAt":"x"}\n`,
    "container\t|"
  ]],
  ["outcome", parseOutcome, state, ["said\t%\n", "run\t\t"]],
  ["overview", (text) => parseOverview(text, [path])(path), overviewCommand([], false).limit, [
    "container\tUp\tweb\t/a\n",
    "release\t1\t/%\n",
    "asked\t1\t/%\n"
  ]],
  ["disks", parseDisks, overviewCommand([], false).limit, ["disk\tdocker\t1\t1\t/%\n"]],
  ["ports", parsePorts, undefined, ["container|%|:1-65535->1\n", ":1-65535->", "socket|1.1.1.1:1\n"]],
  ["releases", parseReleases, releasesCommand(path, false).limit, [
    "release\t%\tcurrent\n",
    "image\t%\t%\n",
    "here\t%\n"
  ]],
  ["scan", parseScan, scanCommand.limit, ["%\0compose.yml\0\0\0\0x\0", "\0"]],
  ["stack", parseStack, state, ["removed\t%\n", "image\t%\n"]],
  ["stats", parseStats, undefined, ["container|%|1|2|3|4\nusage|%|1|1B / 1B|1B / 1B\n", "|"]],
  ["sample", parseSample, sampleCommand(false).limit, ["container|%|web|1\nusage|%|1|1B / 1B|1B / 1B|1B / 1B\n", "|"]],
  ["upload", parseReceived, undefined, [" ", "1"]]
]

/** As many records as a limit lets through, after what an answer of this kind begins with. */
const filled = (limit: AnswerLimit, record: string): string => {
  const first = { "\0": limit === scanCommand.limit ? "berth-scan\0" : "berth-files\0", "\n": "container|a|" }[
    limit.separator
  ]
  const start = record.includes("->") && !record.startsWith("container") ? first : limit.separator === "\0" ? first : ""
  const parts = [start]
  const each = record.split(limit.separator).length - 1
  const most = each === 0 ? limit.bytes : (limit.records - 1) / each
  let bytes = start.length
  for (let at = 0; at + 1 < most; at++) {
    const next = record.replaceAll("%", at.toString(36))
    bytes += next.length
    if (bytes > limit.bytes) break
    parts.push(next)
  }
  return parts.join("")
}

describe("the longest answer that a limit lets through", () => {
  it.effect.each(parsers)(
    "is read by %s in bounded memory and time",
    ([, read, limit = usualLimit, records]) =>
      Effect.gen(function*() {
        for (const record of records) {
          const text = filled(limit, record)
          expect(countAnswer(limit)(new TextEncoder().encode(text))).toBeUndefined()
          const before = yield* liveHeap
          const began = performance.now()
          const kept = read(text)
          const took = performance.now() - began
          const grown = ((yield* liveHeap) - before) / 1024 / 1024
          expect(kept).toBeDefined()
          expect([record.slice(0, 40), took < 5_000, grown < 100], `${took} ms, ${grown} MiB`).toEqual([
            record.slice(0, 40),
            true,
            true
          ])
        }
      })
  )
})
