import type { Path } from "@effect/platform"
import { Clock, Duration, Effect, Either } from "effect"
import {
  diskCommand,
  diskExit,
  type DiskInventory,
  parseDisk,
  parsePrune,
  pruneCommand,
  type PruneItem,
  type ReportedContainer,
  type ReportedImage
} from "../remote/disks.ts"
import {
  DiskFailed,
  type DiskUse,
  type ImageOwner,
  PruneBusy,
  type PruneKind,
  PruneMoved,
  type PruneOptions,
  type PrunePlan,
  type PruneRequest,
  PruneResult
} from "../schema/disks.ts"
import { parseRemotePath, type ServerUnresolved } from "../schema/servers.ts"
import type { ServerAccess, SshError } from "../schema/ssh.ts"
import { listDeployPlaces } from "../schema/targets.ts"
import { formatBytes, pluralize } from "../schema/words.ts"
import type { LocalFiles } from "../services/local/LocalFiles.ts"
import { type FileLocked, makePruneLock } from "../services/locks/Locks.ts"
import { type RunFailure, Runs } from "../services/runs/Runs.ts"
import { executeStep, uncancellable } from "../services/runs/Steps.ts"
import { digestLength, keyedDigest, Settings, type SettingsError } from "../services/settings/Settings.ts"
import { scrubServerOutput, Ssh } from "../services/ssh/Ssh.ts"
import { listProjects } from "./projects/projects.ts"
import { describeDockerRefusal } from "./servers/servers.ts"

/** Docker measures volumes for up to a minute. */
const lookTimeout = "150 seconds"

/** Remote paths of the projects' stacks on a server: a stack without containers may lie outside of ~/containers. */
export const listKnownPaths = (serverId: string) =>
  Effect.map(
    Effect.orElseSucceed(listProjects(), () => []),
    (projects) => [
      ...new Set(
        projects.flatMap(listDeployPlaces).filter((place) => place.serverId === serverId).flatMap(({ remotePath }) =>
          Either.match(parseRemotePath("remotePath", remotePath), { onLeft: () => [], onRight: (path) => [path] })
        )
      )
    ]
  )

/** Reads everything that takes space on a server, in one command. */
export const readDiskInventory = (server: ServerAccess, paths: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const exit = yield* (yield* Ssh).exec(server, diskCommand(paths, server.useSudo), { timeout: lookTimeout })
    if (exit.code === 0) return parseDisk(exit.stdout)
    const words = scrubServerOutput(server, exit.stderr)
    const reason = exit.code === diskExit.noDocker ? describeDockerRefusal(words, server) : words || "no answer"
    return yield* new DiskFailed({ server: server.name, reason })
  })

const berthName = /^berth\/(release|kept|incoming):([0-9a-f]{12})?/

/** An image with its owner, and why it stays; `because` of an image that nothing needs says what it is. */
export interface JudgedImage {
  readonly image: ReportedImage
  /** Its names without those by which Berth keeps it. */
  readonly names: ReadonlyArray<string>
  readonly owner: ImageOwner
  readonly brought: boolean
  /** needed: a release or a container needs it; ours: Berth brought it, and nothing needs it; others: neither. */
  readonly standing: "needed" | "ours" | "others"
  readonly because: string
}

const describeContainer = ({ name }: ReportedContainer) => `the container ${name} uses it`

/** Names of images that an interrupted load has left are Berth's; those of a load that goes on are younger. */
const longestLoadMillis = 3_600_000

/** Decides for each image whose it is and whether something needs it. */
export const judgeImages = (
  { containers, directories, images, leaving }: DiskInventory,
  now: number
): ReadonlyArray<JudgedImage> => {
  const hashes = new Set(directories.map(({ hash }) => hash))
  return images.map((image): JudgedImage => {
    const own = image.tags.filter((tag) => berthName.test(tag))
    const kinds = own.map((tag) => {
      const [, kind, hash] = berthName.exec(tag) ?? []
      return { kind, hash }
    })
    const tags = image.tags.filter((tag) => !berthName.test(tag))
    const names = tags.length > 0 || own.length > 0 ? tags : image.digests
    const needs = directories.flatMap(({ needs, path }) =>
      needs.filter((need) => need.image === image.id).map((need) => ({ ...need, path }))
    )
    const isLeft = leaving.has(image.id)
    const isMarked = kinds.some(({ hash, kind }) =>
      kind === "incoming" ? image.since < now - longestLoadMillis : hash !== undefined && hashes.has(hash)
    )
    const brought = isLeft || isMarked || needs.some((need) => need.brought)
    const judged = { image, names, brought }
    const [need] = needs.toSorted((one, other) => Number(other.release) - Number(one.release))
    if (need !== undefined) {
      const { path, release } = need
      const because = `release ${release} of ${path} needs it`
      return { ...judged, standing: "needed", owner: { kind: "release", path, release }, because }
    }
    const users = containers.filter((container) => container.image === image.id)
    const [user] = [...users.filter(({ directory }) => directory !== ""), ...users]
    if (user !== undefined) {
      const owner: ImageOwner = user.directory === ""
        ? { kind: "foreign" }
        : { kind: "stack", path: user.directory }
      return { ...judged, standing: "needed", owner, because: describeContainer(user) }
    }
    if (kinds.some(({ hash, kind }) => kind !== "incoming" && (hash === undefined || !hashes.has(hash)))) {
      const because = "Berth keeps it for a release in a directory that is not found here"
      return { ...judged, standing: "others", owner: { kind: "release" }, because }
    }
    const foreign = tags.filter((tag) => !(leaving.get(image.id) ?? []).includes(tag))
    if (foreign.length > 0) {
      const because = "no container uses it, and Berth did not name it"
      return { ...judged, standing: "others", owner: { kind: "foreign" }, because }
    }
    if (brought) {
      const because = "Berth brought it, and no release and no container needs it"
      return { ...judged, standing: "ours", owner: { kind: "nobody" }, because }
    }
    if (own.length > 0) {
      const because = "it may be part of a deploy that is under way"
      return { ...judged, standing: "needed", owner: { kind: "nobody" }, because }
    }
    const kind = image.digests.length > 0 ? "foreign" : "nobody"
    const because = `no container uses it${kind === "nobody" ? ", and it has no name" : ""}`
    return { ...judged, standing: "others", owner: { kind }, because }
  })
}

const sizeUnits: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, g: 1e9, t: 1e12 }

/** Parses a size of Docker's log options, `10m`; undefined for one that sets no limit. */
const parseLogSize = (text: string): number | undefined => {
  const [, number = "", unit = ""] = /^(\d{1,12}(?:\.\d{1,6})?)([kmgt]?)b?$/i.exec(text.trim()) ?? []
  return number === "" ? undefined : Math.round(Number(number) * (sizeUnits[unit.toLowerCase()] ?? 1))
}

/** Largest size of a container's log; null if it grows without end, undefined if Docker keeps it elsewhere. */
export const computeLogLimit = (
  { logDriver, logMaxFile, logMaxSize }: Pick<ReportedContainer, "logDriver" | "logMaxFile" | "logMaxSize">
): number | null | undefined => {
  const files = /^[1-9]\d{0,5}$/.test(logMaxFile) ? Number(logMaxFile) : undefined
  const size = parseLogSize(logMaxSize)
  if (logDriver === "local") return (size ?? 20e6) * (files ?? 5)
  if (logDriver !== "json-file") return undefined
  return size === undefined ? null : size * (files ?? 1)
}

const byBytes = (one: { readonly bytes: number | null }, other: { readonly bytes: number | null }) =>
  (other.bytes ?? -1) - (one.bytes ?? -1)

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, number) => total + number, 0)

/** Containers of a volume by name. */
export const volumeUsers = ({ containers }: DiskInventory, volume: string): ReadonlyArray<string> =>
  containers.filter(({ volumes }) => volumes.includes(volume)).map(({ name }) => name)

/** Describes the space that is in use on a server, for callers. */
export const describeDiskUse = (inventory: DiskInventory, now: number): DiskUse => ({
  disks: inventory.disks.map(({ freeBytes, freeInodes, inodes, mountedOn, totalBytes }) => ({
    mount: mountedOn,
    bytes: totalBytes,
    used: totalBytes - freeBytes,
    inodes: inodes ?? null,
    inodesUsed: inodes === undefined || freeInodes === undefined ? null : inodes - freeInodes
  })),
  images: judgeImages(inventory, now).map(({ brought, image, names, owner }) => ({
    id: image.id,
    names,
    bytes: image.bytes,
    own: image.own ?? null,
    owner,
    brought
  })).toSorted(byBytes),
  buildCache: {
    records: inventory.cache.length,
    bytes: sum(inventory.cache.map(({ bytes }) => bytes)),
    unused: sum(inventory.cache.filter(({ inUse }) => !inUse).map(({ bytes }) => bytes))
  },
  logs: inventory.containers.flatMap((container) => {
    const limit = computeLogLimit(container)
    return limit === undefined ? [] : [{ container: container.name, bytes: container.logBytes ?? null, limit }]
  }).toSorted(byBytes),
  volumes: inventory.volumes.map(({ bytes, changedAt, name }) => ({
    name,
    bytes: bytes ?? null,
    usedBy: volumeUsers(inventory, name),
    changedAt: changedAt === undefined ? null : new Date(changedAt).toISOString()
  })).toSorted((one, other) => Math.sign(one.usedBy.length) - Math.sign(other.usedBy.length) || byBytes(one, other)),
  stacks: inventory.directories.map(({ backups, bytes, path, releases }) => ({
    path,
    releases: releases.length,
    bytes,
    backups
  })),
  backups: sum(inventory.directories.map(({ backups }) => backups))
})

/** Shows what takes space on a server, and whose it is. Changes nothing. */
export const showDiskUse = Effect.fn("showDiskUse")(function*(serverId: string) {
  const server = yield* (yield* Settings).server(serverId)
  const inventory = yield* readDiskInventory(server, yield* listKnownPaths(server.id))
  return describeDiskUse(inventory, yield* Effect.clockWith((clock) => clock.currentTimeMillis))
})

/** Items of one plan. What is left is in the next one. */
const mostItems = 800

/** Removing a large image takes minutes on a slow disk. */
const timeout = "30 minutes"

type Removable = PrunePlan["remove"][number]

/** Records of the build cache, each before those that it is made of. Without recursion: a server decides how many. */
const sortByNeed = (cache: DiskInventory["cache"]): DiskInventory["cache"] => {
  const users = new Map<string, number>()
  for (const { parents } of cache) for (const id of parents) users.set(id, (users.get(id) ?? 0) + 1)
  const left = new Map(cache.map((record) => [record.id, record]))
  const free = cache.filter(({ id }) => !users.has(id))
  for (const { id, parents } of free) {
    left.delete(id)
    for (const parent of parents) {
      const others = (users.get(parent) ?? 0) - 1
      users.set(parent, others)
      const record = left.get(parent)
      if (others === 0 && record !== undefined) free.push(record)
    }
  }
  // Records that need each other, which a sound server has none of.
  return [...free, ...left.values()]
}

/** Decides what is removed, and what stays and why. Never decides on anything that is in use. */
export const decidePrune = (inventory: DiskInventory, options: PruneOptions, now: number) => {
  const before = options.olderThan === undefined ? now : now - Duration.toMillis(options.olderThan)
  const age = options.olderThan === undefined ? "" : Duration.format(options.olderThan)
  const remove: Array<Removable> = []
  const keep: Array<PrunePlan["keep"][number]> = []
  for (const { because, image, names: known, standing } of judgeImages(inventory, now)) {
    const { id, own, since } = image
    const names = known.length > 0 ? known : image.tags
    if (standing === "needed") keep.push({ id, names, because })
    else if (standing === "others" && options.others !== true) {
      keep.push({ id, names, because: `${because}: only with others` })
    } else if (since > before) keep.push({ id, names, because: `it is younger than ${age}` })
    else remove.push({ kind: "image", id, names, bytes: own ?? null, because })
  }
  if (options.buildCache === true) {
    for (const { bytes, id, inUse, usedAt = 0 } of sortByNeed(inventory.cache)) {
      if (!inUse && usedAt <= before) {
        remove.push({ kind: "cache", id, names: [], bytes, because: "no build uses it now" })
      }
    }
  }
  for (const name of new Set(options.volumes)) {
    const volume = inventory.volumes.find((each) => each.name === name)
    const [user] = volumeUsers(inventory, name)
    if (volume === undefined) keep.push({ id: name, names: [name], because: "there is no such volume" })
    else if (user !== undefined) keep.push({ id: name, names: [name], because: `the container ${user} uses it` })
    else {
      const because = "it was named, and no container uses it"
      remove.push({ kind: "volume", id: name, names: [name], bytes: volume.bytes ?? null, because })
    }
  }
  return { remove: remove.slice(0, mostItems), keep }
}

/** Names that an image has now, with Berth's own: one that is added later keeps it. */
const tagsOf = ({ images }: DiskInventory, { id, kind, names }: Removable): ReadonlyArray<string> =>
  kind === "image" ? images.find((image) => image.id === id)?.tags ?? [] : names

type Digest = (text: string) => string

const makerOf = (server: ServerAccess, options: PruneOptions, digest: Digest): string => {
  const { buildCache = false, olderThan, others = false, volumes = [] } = options
  const age = olderThan === undefined ? null : Duration.toMillis(olderThan)
  return digest(JSON.stringify(["prune", 1, server.id, age, buildCache, others, [...new Set(volumes)].sort()]))
}

const identityOf = (kind: PruneKind, id: string, digest: Digest) => digest(JSON.stringify([kind, id]))
const namesOf = (names: ReadonlyArray<string>, digest: Digest) => digest(JSON.stringify(names.toSorted()))

const formatPlanHash = (
  server: ServerAccess,
  options: PruneOptions,
  inventory: DiskInventory,
  remove: ReadonlyArray<Removable>,
  digest: Digest
): string =>
  [
    makerOf(server, options, digest),
    ...remove.map((item) => identityOf(item.kind, item.id, digest) + namesOf(tagsOf(inventory, item), digest))
  ].join("")

/** Plans a clean-up of a server: what would be removed, and what stays and why. Changes nothing. */
export const planPrune = Effect.fn("planPrune")(function*(
  serverId: string,
  options: PruneOptions
): Effect.fn.Return<
  PrunePlan,
  DiskFailed | ServerUnresolved | SettingsError | SshError,
  LocalFiles | Path.Path | Settings | Ssh
> {
  const server = yield* (yield* Settings).server(serverId)
  const inventory = yield* readDiskInventory(server, yield* listKnownPaths(server.id))
  const { keep, remove } = decidePrune(inventory, options, yield* Clock.currentTimeMillis)
  return {
    planHash: formatPlanHash(server, options, inventory, remove, yield* keyedDigest),
    remove,
    keep,
    frees: remove.reduce((total, { bytes }) => total + (bytes ?? 0), 0)
  }
})

/** Items of a plan by what has become of them. */
interface BoundPlan {
  readonly items: ReadonlyArray<PruneItem>
  readonly skipped: PruneResult["skipped"]
}

/**
 * Binds what can be removed now to a plan: an item that the plan does not name, or that has other names since, stays.
 * Returns undefined for a plan of another server, other options or another Berth.
 */
const bindToPlan = (
  server: ServerAccess,
  { planHash, ...options }: PruneRequest,
  inventory: DiskInventory,
  now: number,
  digest: Digest
): BoundPlan | undefined => {
  if (!planHash.startsWith(makerOf(server, options, digest))) return undefined
  const planned = new Map<string, string>()
  for (let at = digestLength; at < planHash.length; at += 2 * digestLength) {
    planned.set(planHash.slice(at, at + digestLength), planHash.slice(at + digestLength, at + 2 * digestLength))
  }
  const { keep, remove } = decidePrune(inventory, options, now)
  const items: Array<PruneItem> = []
  const skipped: Array<PruneResult["skipped"][number]> = []
  for (const item of remove) {
    const { id, kind, names } = item
    const key = identityOf(kind, id, digest)
    const tags = tagsOf(inventory, item)
    if (planned.get(key) === namesOf(tags, digest)) items.push({ kind, id, names: tags })
    else if (planned.has(key)) skipped.push({ kind, id, names, because: "it has other names since" })
    planned.delete(key)
  }
  for (const { because, id, names } of keep) {
    for (const kind of ["image", "volume"] as const) {
      if (planned.delete(identityOf(kind, id, digest))) skipped.push({ kind, id, names, because })
    }
  }
  return { items, skipped }
}

const sendItems = (server: ServerAccess, paths: ReadonlyArray<string>, items: ReadonlyArray<PruneItem>) =>
  Effect.gen(function*() {
    const exit = yield* (yield* Ssh).exec(server, pruneCommand(paths, items, server.useSudo), { timeout })
    const answer = parsePrune(exit.stdout)
    if (exit.code === diskExit.busy) {
      return yield* new PruneBusy({ server: server.name, directory: answer.busy ?? "a directory" })
    }
    if (exit.code === 0) return answer
    const words = scrubServerOutput(server, exit.stderr)
    const reason = exit.code === diskExit.noDocker ? describeDockerRefusal(words, server) : words || "no answer"
    return yield* new DiskFailed({ server: server.name, reason })
  })

const describeRemoved = (removed: PruneResult["removed"]): string => {
  const count = (kind: PruneKind) => removed.filter((each) => each.kind === kind).length
  const parts = [
    ...count("image") > 0 ? [pluralize(count("image"), "image")] : [],
    ...count("cache") > 0 ? [pluralize(count("cache"), "record of the build cache", "records of the build cache")] : [],
    ...count("volume") > 0 ? [pluralize(count("volume"), "volume")] : []
  ]
  return parts.length === 0 ? "nothing" : parts.join(", ")
}

const cleanUp = (server: ServerAccess, request: PruneRequest) =>
  Effect.gen(function*() {
    const paths = yield* listKnownPaths(server.id)
    const { items, skipped } = yield* executeStep(
      "preflight",
      Effect.gen(function*() {
        const inventory = yield* readDiskInventory(server, paths)
        const digest = yield* keyedDigest
        const bound = bindToPlan(server, request, inventory, yield* Clock.currentTimeMillis, digest)
        if (bound !== undefined) return bound
        const reason = "it has other options, or was made by another Berth or before a token was changed"
        return yield* new PruneMoved({ server: server.name, reason })
      }),
      (bound) => `${pluralize(bound.items.length, "item")} to remove, ${bound.skipped.length} in use since the plan`
    )
    const answer = items.length === 0
      ? { removed: new Set<string>(), reasons: new Map<string, string>(), freedBytes: 0 }
      : yield* uncancellable(executeStep(
        "prune",
        sendItems(server, paths, items),
        ({ freedBytes, removed }) =>
          `${removed.size} removed${freedBytes === null ? "" : `, ${formatBytes(freedBytes)} freed`}`
      ))
    const isRemoved = ({ id, kind }: PruneItem) => answer.removed.has(`${kind} ${id}`)
    const removed = items.filter(isRemoved)
    const stay = items.filter((item) => !isRemoved(item)).map((item) => ({
      ...item,
      because: answer.reasons.get(`${item.kind} ${item.id}`) ?? "the server did not say why"
    }))
    const left = [...skipped, ...stay]
    const freed = answer.freedBytes
    return {
      removed,
      skipped: left,
      freed,
      message: `Removed ${describeRemoved(removed)} from "${server.name}"` +
        (freed === null || removed.length === 0 ? "." : `, which freed ${formatBytes(freed)}.`) +
        (left.length === 0 ? "" : ` ${pluralize(left.length, "item")} of the plan stayed.`)
    } satisfies PruneResult
  })

/**
 * Removes what a plan names and is still unused: each is looked at again on the server, while no deploy there can start
 * to use it.
 */
export const prune = Effect.fn("prune")(function*(
  serverId: string,
  request: PruneRequest
): Effect.fn.Return<
  PruneResult,
  DiskFailed | FileLocked | PruneBusy | PruneMoved | RunFailure | ServerUnresolved | SettingsError | SshError,
  LocalFiles | Path.Path | Runs | Settings | Ssh
> {
  const server = yield* (yield* Settings).server(serverId)
  return yield* (yield* Runs).run(
    {
      kind: "prune",
      key: makePruneLock(server),
      subject: { serverId: server.id, serverName: server.name },
      request: { serverId: server.id },
      result: PruneResult,
      afterRestart: "give up"
    },
    cleanUp(server, request)
  )
})
