import { Duration, Effect, Option } from "effect"
import { Berth } from "../../client/Berth.ts"
import type { DiskUse, ImageOwner, PrunePlan, PruneResult } from "../../schema/disks.ts"
import { formatBytes, pluralize } from "../../schema/words.ts"
import { defineServiceCommand, findStoredServer, showAnswer, yes } from "../options.ts"
import { confirm, escapeInline, exitCodes, formatTable, Screen, Usage } from "../output.ts"
import { argument, flagOption, textOption } from "../parse.ts"
import { followRun } from "../runView.ts"

const server = argument("server", "The id or the name of a stored server; berth server list names them.", "server")

const size = (bytes: number | null) => bytes === null ? "not known" : formatBytes(bytes)
const nameOf = (id: string, names: ReadonlyArray<string>) => names[0] ?? id.replace(/^sha256:/, "").slice(0, 12)

const describeOwner = ({ kind, path, release }: ImageOwner): string => {
  switch (kind) {
    case "release":
      return path === undefined ? "a release elsewhere" : `release ${release} of ${path}`
    case "stack":
      return `stack ${path}`
    case "foreign":
      return "somebody else"
    case "nobody":
      return "nobody"
  }
}

const showDisk = ({ backups, buildCache, disks, images, logs, stacks, volumes }: DiskUse) =>
  Effect.gen(function*() {
    const { out, print } = yield* Screen
    const table = (headings: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
      rows.length === 0 ? [] : [formatTable(headings, rows, out), ""]
    const releases = stacks.reduce((total, stack) => total + stack.bytes, 0)
    yield* print([
      ...table(
        ["DISK", "SIZE", "USED", "INODES", "USED"],
        disks.map(({ bytes, inodes, inodesUsed, mount, used }) => [
          mount,
          formatBytes(bytes),
          `${formatBytes(used)} (${Math.round(used / Math.max(1, bytes) * 100)}%)`,
          inodes === null ? "" : String(inodes),
          inodesUsed === null ? "" : String(inodesUsed)
        ])
      ),
      ...table(
        ["IMAGE", "SIZE", "ALONE", "BELONGS TO"],
        images.map((
          { bytes, id, names, own, owner }
        ) => [nameOf(id, names), formatBytes(bytes), size(own), describeOwner(owner)])
      ),
      ...table(
        ["LOG OF", "SIZE", "AT MOST"],
        logs.map(({ bytes, container, limit }) => [
          container,
          size(bytes),
          limit === null ? "without limit" : formatBytes(limit)
        ])
      ),
      ...table(
        ["VOLUME", "SIZE", "USED BY", "CHANGED"],
        volumes.map(({ bytes, changedAt, name, usedBy }) => [
          name,
          size(bytes),
          usedBy.join(", ") || "no container",
          changedAt ?? ""
        ])
      ),
      `Build cache: ${formatBytes(buildCache.bytes)}, ${formatBytes(buildCache.unused)} of it unused. ` +
      `Files of releases: ${formatBytes(releases)}. Backups: ${formatBytes(backups)}.`
    ].join("\n"))
  })

export const serverDiskCommand = defineServiceCommand(
  {
    name: "disk",
    summary: "Show what takes space on a server, and whose it is.",
    examples: ["berth server disk main", "berth server disk main --json"]
  },
  { server },
  (input) =>
    Effect.flatMap(
      findStoredServer(input.server),
      ({ server: { id } }) => showAnswer(input, (api) => api.serverDisk({ path: { id } }), showDisk)
    )
)

const kinds = { image: "image", cache: "build cache", volume: "volume" } as const

const planLines = ({ frees, keep, remove }: PrunePlan): ReadonlyArray<string> => [
  ...remove.map(({ because, bytes, id, kind, names }) =>
    `- ${kinds[kind]} ${escapeInline(names.join(", ") || nameOf(id, names))}${
      bytes === null ? "" : `, ${formatBytes(bytes)}`
    }: ${escapeInline(because)}`
  ),
  ...keep.map(({ because, id, names }) =>
    `= ${escapeInline(names.join(", ") || nameOf(id, names))}: ${escapeInline(because)}`
  ),
  remove.length === 0 ? "Nothing would be removed." : `Frees at least ${formatBytes(frees)}.`
]

const showPruned = ({ message, skipped }: PruneResult) =>
  Effect.gen(function*() {
    const { say } = yield* Screen
    yield* say([
      ...skipped.map(({ because, id, names }) =>
        `! ${escapeInline(nameOf(id, names))} stays: ${escapeInline(because)}`
      ),
      escapeInline(message)
    ].join("\n"))
  })

/** Reads an age: `7d`, `12h`, or in words. */
const parseAge = (text: string) => {
  const [, number, unit = ""] = /^\s*(\d{1,6})\s*([dhw])\s*$/.exec(text) ?? []
  const words = { d: "days", h: "hours", w: "weeks" }[unit]
  return Option.match(Duration.decodeUnknown(words === undefined ? text.trim() : `${number} ${words}`), {
    onNone: () => new Usage({ message: "--older-than must be a time like 7d or \"12 hours\"" }),
    onSome: Effect.succeed
  })
}

export const pruneServerCommand = defineServiceCommand(
  {
    name: "prune",
    summary: "Remove what takes space on a server and nothing needs: images that Berth brought, and more if asked.",
    details:
      "Shows each image, record of the build cache and volume that would go, and what stays and why; then asks. Images of " +
      "releases, of containers that are stopped, and volumes that are not named always stay. Ends with 2 when something of " +
      "the plan was in use by then.",
    examples: [
      "berth server prune main --dry-run",
      "berth server prune main --others --older-than 7d",
      "berth server prune main --volume old_data"
    ]
  },
  {
    server,
    dryRun: flagOption("dry-run", "Show what would be removed, and change nothing."),
    olderThan: textOption("older-than", "Only images and build cache that are older, like 7d.", { value: "time" }),
    buildCache: flagOption("build-cache", "Also the build cache that no build uses now."),
    others: flagOption("others", "Also images that Berth did not bring and nothing needs."),
    volume: textOption("volume", "Also this volume, with what is in it.", { value: "name" }),
    yes
  },
  Effect.fnUntraced(function*(input) {
    const { answer } = yield* Berth
    const { print, say } = yield* Screen
    const { callName, server: { id } } = yield* findStoredServer(input.server)
    const options = {
      ...Option.isSome(input.olderThan) ? { olderThan: yield* parseAge(input.olderThan.value) } : {},
      ...input.buildCache ? { buildCache: true } : {},
      ...input.others ? { others: true } : {},
      ...Option.isSome(input.volume) ? { volumes: [input.volume.value] } : {}
    }
    const { body, value: plan } = yield* answer((api) => api.planPrune({ path: { id }, payload: options }))
    if (input.dryRun) {
      yield* print(input.json ? body : planLines(plan).join("\n"))
      return exitCodes.done
    }
    yield* say(planLines(plan).join("\n"))
    if (plan.remove.length === 0) {
      if (input.json) yield* print(body)
      return exitCodes.done
    }
    const question = `Remove ${pluralize(plan.remove.length, "item")} from ${escapeInline(callName)}?`
    if (!(yield* confirm(question, input.yes))) return exitCodes.failed
    const pruned = yield* followRun((api) =>
      api.prune({ path: { id }, payload: { ...options, planHash: plan.planHash } })
    )
    if (input.json) yield* print(pruned.body)
    yield* showPruned(pruned.value)
    return pruned.value.skipped.length === 0 ? exitCodes.done : exitCodes.differs
  })
)
