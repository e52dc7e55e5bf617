import { Predicate } from "effect"
import type { ServerFacts } from "../../../remote/deploy.ts"
import { cut, suggestNearest } from "../../../schema/words.ts"
import { type ComposeKey, composeSections, composeTags, newestKnownCompose } from "./composeKeys.ts"
import { type ComposeSource, formatKeyPlace, type PartPath } from "./composeSources.ts"

// Compares the keys of compose files with those that the server's Compose knows, so that a plan names what that Compose
// would refuse.

/** A version as its numbers: a later one of the same length is greater. */
type Version = readonly [major: number, minor: number, patch: number]

/** Compose of a server. */
interface ServerCompose {
  /** Its name in messages: `docker-compose 1.29.2`. */
  readonly name: string
  /** Undefined if its version cannot be read: then nothing is too new for it. */
  readonly version: Version | undefined
}

type ComposeFacts = Pick<ServerFacts, "composeKind" | "composeVersion" | "engine">

/** Obstacles and warnings of a plan about the keys of its compose files. */
export interface CheckedKeys {
  readonly obstacles: ReadonlyArray<string>
  readonly warnings: ReadonlyArray<string>
}

const parseVersion = (text: string): Version | undefined => {
  const [, major, minor, patch = "0"] = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(text) ?? []
  return major === undefined || minor === undefined ? undefined : [Number(major), Number(minor), Number(patch)]
}

const isBefore = (one: Version, other: Version) => {
  const at = one.findIndex((number, index) => number !== other[index])
  return at >= 0 && (one[at] ?? 0) < (other[at] ?? 0)
}

/** True if the version is known and earlier than the one that something needs. */
const isTooOld = (version: Version | undefined, needed: string) => {
  const wanted = parseVersion(needed)
  return version !== undefined && wanted !== undefined && isBefore(version, wanted)
}

/** Docker-compose 1.x counts as 1.29, the last of it: its keys did not change in a way that matters here. */
const readServerCompose = ({ composeKind, composeVersion }: ComposeFacts): ServerCompose =>
  composeKind === "v1"
    ? { name: `docker-compose ${composeVersion}`, version: [1, 29, 0] }
    : { name: `Compose ${composeVersion}`, version: parseVersion(composeVersion) }

/** True if the table has all keys of a version. */
const isCovered = (version: Version | undefined) => {
  const newest = parseVersion(newestKnownCompose)
  return version !== undefined && newest !== undefined && !isBefore(newest, [version[0], version[1], 0])
}

interface Part {
  readonly path: PartPath
  readonly value: unknown
}

const listChildren = ({ path, value }: Part, step: string): ReadonlyArray<Part> => {
  if (step === "[]") {
    return Array.isArray(value) ? value.map((item: unknown, index) => ({ path: [...path, index], value: item })) : []
  }
  if (!Predicate.isRecord(value)) return []
  if (step === "*") return Object.entries(value).map(([name, child]) => ({ path: [...path, name], value: child }))
  return Object.hasOwn(value, step) ? [{ path: [...path, step], value: value[step] }] : []
}

/** Finds the parts of a file at a path. A part that several aliases share is found once. */
const makeFinder = (content: unknown) => {
  const known = new Map<string, ReadonlyArray<Part>>([["", [{ path: [], value: content }]]])
  const find = (steps: ReadonlyArray<string>): ReadonlyArray<Part> => {
    const key = steps.join("/")
    const before = known.get(key)
    if (before !== undefined) return before
    const seen = new Set<unknown>()
    const found = find(steps.slice(0, -1)).flatMap((part) => listChildren(part, steps.at(-1) ?? "")).filter((
      { value }
    ) => Predicate.isObject(value) && !seen.has(value) && seen.add(value).size > 0)
    known.set(key, found)
    return found
  }
  return find
}

const describePath = (path: PartPath) => cut(path.map(String).join("."))

const describeNeed = (what: string, needed: string, compose: ServerCompose, server: string) =>
  `${what} needs Compose ${needed}, and "${server}" has ${compose.name}`

/** Says what is wrong with one key; undefined if nothing is. */
const checkKey = (
  from: ComposeSource,
  path: PartPath,
  keys: ReadonlyMap<string, ComposeKey>,
  compose: ServerCompose,
  server: string
): { readonly text: string; readonly isObstacle: boolean } | undefined => {
  const name = String(path.at(-1))
  if (name.startsWith("x-")) return undefined
  const key = keys.get(name)
  const what = () => `${formatKeyPlace(from, path)}: ${describePath(path)}`
  if (key !== undefined) {
    return isTooOld(compose.version, key.since)
      ? { text: describeNeed(what(), key.since, compose, server), isObstacle: true }
      : undefined
  }
  const meant = suggestNearest(name, [...keys.keys()])
  return isCovered(compose.version)
    ? { text: `${what()} is not a key of Compose, which would refuse it.${meant}`, isObstacle: true }
    : {
      text: `${what()} is not a key that Berth knows, and ${compose.name} on "${server}" may refuse it.${meant}`,
      isObstacle: false
    }
}

/** Tags that the server's Compose does not follow. Docker-compose 1.x refuses those that it does not know. */
const checkTags = (from: ComposeSource, compose: ServerCompose, isFirst: boolean, server: string) =>
  (from.source.listTags?.() ?? []).flatMap(({ path, tag }) => {
    const since = composeTags.get(tag)
    const what = `${formatKeyPlace(from, path)}: ${cut(tag)}`
    if (since !== undefined) return isTooOld(compose.version, since) ? [describeNeed(what, since, compose, server)] : []
    return isFirst ? [`${what} is a tag that ${compose.name} on "${server}" refuses`] : []
  })

const scheduleNeeds = "29.10"

/** Scheduled jobs need an extension of the engine, without which Compose starts nothing of the stack. */
const checkSchedules = (
  from: ComposeSource,
  find: ReturnType<typeof makeFinder>,
  engine: string,
  server: string
): CheckedKeys => {
  const found = find(["jobs", "*", "triggers"]).filter(({ value }) =>
    Predicate.isRecord(value) && Predicate.isNotNullable(value["schedule"])
  ).map(({ path }) => `${formatKeyPlace(from, path)}: ${describePath(path)} has a schedule`)
  return isTooOld(parseVersion(engine), scheduleNeeds)
    ? {
      obstacles: found.map((what) =>
        `${what}, which needs Docker ${scheduleNeeds} with its jobs extension, and "${server}" has Docker ${engine}`
      ),
      warnings: []
    }
    : {
      obstacles: [],
      warnings: found.map((what) =>
        `${what}: Compose starts nothing of the stack unless Docker on "${server}" runs with its jobs extension`
      )
    }
}

const mostTold = 20

const shorten = (texts: ReadonlyArray<string>, fate: string): ReadonlyArray<string> =>
  texts.length <= mostTold
    ? texts
    : [...texts.slice(0, mostTold), `${texts.length - mostTold} more keys of the compose files ${fate}`]

/**
 * Finds the keys and tags of compose files that the server's Compose does not know, by the table of keys, each with the
 * line of its key.
 * @param sources all files that Compose reads, parsed
 */
export const checkComposeKeys = (
  sources: ReadonlyArray<ComposeSource>,
  facts: ComposeFacts,
  server: string
): CheckedKeys => {
  if (facts.composeKind === "none") return { obstacles: [], warnings: [] }
  const compose = readServerCompose(facts)
  const all = sources.map((from): CheckedKeys => {
    const find = makeFinder(from.source.content)
    const found = [...composeSections.values()].flatMap(({ keys, steps }) =>
      find(steps).flatMap(({ path, value }) =>
        (Predicate.isRecord(value) ? Object.keys(value) : []).flatMap((name) =>
          checkKey(from, [...path, name], keys, compose, server) ?? []
        )
      )
    )
    const schedules = checkSchedules(from, find, facts.engine, server)
    return {
      obstacles: [
        ...found.flatMap(({ isObstacle, text }) => isObstacle ? [text] : []),
        ...checkTags(from, compose, facts.composeKind === "v1", server),
        ...schedules.obstacles
      ],
      warnings: [...found.flatMap(({ isObstacle, text }) => isObstacle ? [] : [text]), ...schedules.warnings]
    }
  })
  return {
    obstacles: shorten([...new Set(all.flatMap(({ obstacles }) => obstacles))], "are refused"),
    warnings: shorten([...new Set(all.flatMap(({ warnings }) => warnings))], "may be refused")
  }
}
