import { Path } from "@effect/platform"
import { Array as Arr, Clock, Effect, Either, Option, Order, Predicate, Ref, Struct } from "effect"
import type { PlatformRecord } from "../../schema/applications.ts"
import type { ObservedApplication } from "../../schema/overview.ts"
import {
  composeFileNames,
  type FileProblem,
  formatFileProblem,
  type LocalProject,
  platformFileName
} from "../../schema/projects.ts"
import type { Server } from "../../schema/servers.ts"
import { type DeclaredApp, differencesIn } from "../../schema/upsert.ts"
import { reportDrift } from "../../services/notify/Notifier.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { scrubSecrets, Settings } from "../../services/settings/Settings.ts"
import { withAnswerBudget } from "../../services/upstream/Upstream.ts"
import { readPlatformFile } from "../applications/platformFile.ts"
import { checkComposeFile } from "../projects/compose.ts"
import { type ListedFiles, listProjectFiles, resolveRemotePath, toFileProblem } from "../projects/files.ts"
import {
  inspectProject,
  isDeployable,
  isDirectory,
  listProjectDirectories,
  type ProjectDirectory,
  redactProject
} from "../projects/projects.ts"
import { bracketAddress, isLoopback, linkTo, linkToPort, mostUrls } from "../projects/urls.ts"
import { withSharedReading } from "../routes/proxyFile.ts"
import { type Deadline, type RoutedDomain, withinDeadline } from "./servers.ts"

// Projects without a platform need no comparison.
const loadDrift = Effect.promise(() => import("../drift.ts"))

/** Applications compared concurrently. */
const appsAtOnce = 16

/** Limit for reading the proxy file, so that a hanging server leaves enough time for all other comparisons. */
export const longestProxyReading = "2 seconds"

/** An application declared by a project. */
interface LocalDeclaration {
  readonly projectPath: string
  readonly declared: DeclaredApp
}

/**
 * Cache of comparisons by project and name. Entries not refreshed by the deadline are shown unchanged and refreshed
 * first next time.
 */
export type ComparisonCache = Ref.Ref<ReadonlyMap<string, ObservedApplication>>

const keyOf = ({ name, projectPath }: Pick<ObservedApplication, "name" | "projectPath">) =>
  JSON.stringify([projectPath, name])

const statusOf = ({ raw }: PlatformRecord): string | null => {
  const status = raw["status"]
  return Predicate.isString(status) && status !== "" ? status : null
}

/** An application declared by a project, present on the platform, or both. */
interface Candidate {
  readonly name: string
  readonly projectPath: string | null
  readonly declared: DeclaredApp | undefined
  readonly record: PlatformRecord | undefined
}

const observe = (
  { declared, name, projectPath, record }: Candidate,
  records: ReadonlyArray<PlatformRecord>,
  deadline: number,
  before: ObservedApplication | undefined
) =>
  Effect.gen(function*() {
    const application: ObservedApplication = {
      name,
      uuid: record?.uuid ?? null,
      projectPath,
      status: record === undefined ? null : statusOf(record),
      drift: null,
      observedAt: new Date(yield* Clock.currentTimeMillis).toISOString()
    }
    if (record === undefined || projectPath === null || declared === undefined) return application
    const compared = Effect.flatMap(loadDrift, ({ detectDrift }) => detectDrift(projectPath, declared, record, records))
      .pipe(
        Effect.tap((found) => reportDrift({ projectPath, appName: name }, found)),
        Effect.map(differencesIn),
        Effect.map((drift): ObservedApplication => ({ ...application, drift })),
        Effect.catchAll(({ message }) => Effect.map(scrubSecrets(message), (error) => ({ ...application, error }))),
        // A defect concerns this application alone.
        Effect.catchAllDefect((defect) =>
          Effect.as(Effect.logError("Not compared", defect), {
            ...application,
            error: "Not compared: the log says why"
          })
        )
      )
    return yield* withinDeadline(
      { at: deadline, millis: Number.POSITIVE_INFINITY },
      compared,
      (reason) =>
        before === undefined
          ? { ...application, error: `Not compared: ${reason}` }
          : { ...before, error: `Not compared again: ${reason}` }
    )
  })

/** True if the platform is set up. */
const hasPlatform = Effect.flatMap(
  Settings,
  (settings) => Effect.map(settings.find("platform.url"), (url) => url._tag === "Some")
)

/** Reads the status of each application, and the drift of each declared one. */
export const observeApplications = (
  declaredHere: ReadonlyArray<LocalDeclaration>,
  deadline: number,
  compared: ComparisonCache
) =>
  Effect.gen(function*() {
    if (declaredHere.length === 0 && !(yield* hasPlatform)) return { applications: [], errors: [] }
    const observedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
    const listed = yield* withinDeadline<
      Either.Either<ReadonlyArray<PlatformRecord>, string>,
      never,
      Platform | Settings
    >(
      { at: deadline, millis: Number.POSITIVE_INFINITY },
      Effect.either(
        Effect.flatMap(Platform, ({ applications }) => applications).pipe(
          Effect.catchAll(({ message }) => Effect.flatMap(scrubSecrets(message), Effect.fail))
        )
      ),
      Either.left
    )
    if (Either.isLeft(listed)) {
      const error = `The applications of the platform are not known: ${listed.left}`
      const unknown = { uuid: null, status: null, drift: null, observedAt, error }
      return {
        applications: declaredHere.map(({ declared, projectPath }): ObservedApplication => ({
          name: declared.entry.name,
          projectPath,
          ...unknown
        })),
        errors: [error]
      }
    }
    const records = listed.right
    const first = new Map(records.toReversed().map((record) => [record.name, record]))
    const owned = new Set(declaredHere.map(({ declared }) => declared.entry.name))
    const others = records.filter((record) => !owned.has(record.name) || first.get(record.name) !== record)
    const all: ReadonlyArray<Candidate> = [
      ...declaredHere.map((here) => {
        const { name } = here.declared.entry
        return { ...here, name, record: first.get(name) }
      }),
      ...others.map((record) => ({ name: record.name, projectPath: null, declared: undefined, record }))
    ]
    const before = yield* Ref.get(compared)
    const lastAt = (one: Candidate) => before.get(keyOf(one))?.observedAt ?? ""
    const oldestFirst = all.toSorted(Order.mapInput(Order.string, lastAt))
    const observed = yield* Effect.forEach(
      oldestFirst,
      (one) =>
        Effect.map(
          observe(one, records, deadline, before.get(keyOf(one))),
          (application) => [one, application] as const
        ),
      {
        concurrency: appsAtOnce
      }
    )
    const found = new Map(observed)
    const applications = all.flatMap((one) => found.get(one) ?? [])
    const whole = applications.filter(({ drift }) => drift !== null).map((application) =>
      Struct.omit(application, "error")
    )
    yield* Ref.set(compared, new Map(whole.map((application) => [keyOf(application), application])))
    return { applications, errors: [] }
  }).pipe(withSharedReading(longestProxyReading), withAnswerBudget, Effect.withSpan("overview.observeApplications"))

const filesAtOnce = 16
/**
 * Age in milliseconds from which a modification time is reliable: a file may change again within the same tick of the
 * file system's clock.
 */
const settledAfter = 2_000

/** Longest file to cache, in bytes: bounds the memory for a thousand projects. */
const longestKept = 64 * 1024

/** A project with its declared applications, or the reason why they cannot be read, and the time of the inspection. */
export interface KnownProject extends LocalProject {
  /** Problems of all its files. */
  readonly problems: ReadonlyArray<FileProblem>
  readonly declared: Either.Either<ReadonlyArray<LocalDeclaration>, string>
  readonly observedAt: string
}

/** Cached project of a directory; none if it holds nothing to deploy. */
interface Remembered {
  readonly project: Option.Option<KnownProject>
  /** Signature of its files; empty if they must be read again. */
  readonly signature: string
}

/** Cache by directory; unchanged files are not reread. */
export type ProjectCache = Ref.Ref<ReadonlyMap<string, Remembered>>

export const makeKnown: Effect.Effect<ProjectCache> = Ref.make<ReadonlyMap<string, Remembered>>(new Map())

const signatureOf = (seen: Option.Option<ListedFiles>, now: number): string =>
  Option.match(seen, {
    onNone: () => "",
    onSome: (files) => {
      const entries = [...files.values()]
      const isSettled = entries.every(({ modified }) => modified < now - settledAfter)
      return isSettled && (files.get(platformFileName)?.size ?? 0) <= longestKept
        ? JSON.stringify(entries.map(({ modified, name, size }) => [name, size, modified]))
        : ""
    }
  })

const declaredBy = (project: LocalProject, seen: Option.Option<ListedFiles>) =>
  project.hasPlatformJson
    ? readPlatformFile(
      project.path,
      Option.getOrUndefined(Option.flatMapNullable(seen, (files) => files.get(platformFileName)))
    ).pipe(
      Effect.map((apps) =>
        Option.getOrElse(apps, () => []).map((declared): LocalDeclaration => ({ declared, projectPath: project.path }))
      ),
      Effect.mapError(toFileProblem),
      Effect.either
    )
    : Effect.succeed(Either.right<ReadonlyArray<LocalDeclaration>>([]))

/** Problem of an unreadable compose file; none if it can be read or does not exist. */
const composeProblem = (project: LocalProject, seen: Option.Option<ListedFiles>) => {
  const files = Option.getOrUndefined(seen)
  const [entry] = composeFileNames.flatMap((name) => files?.get(name) ?? [])
  return entry === undefined
    ? Effect.succeedNone
    : Effect.map(
      Effect.either(checkComposeFile(project.path, entry)),
      (checked) => Option.map(Either.getLeft(checked), toFileProblem)
    )
}

const withoutSecretsIn = (problem: FileProblem) =>
  Effect.map(scrubSecrets(problem.reason), (reason): FileProblem => ({ ...problem, reason }))

/** Reads a project with its declarations, and the problems of its files without secrets. */
const readKnown = (project: LocalProject, seen: Option.Option<ListedFiles>, observedAt: string) =>
  Effect.gen(function*() {
    const [declared, compose] = yield* Effect.all([declaredBy(project, seen), composeProblem(project, seen)], {
      concurrency: "unbounded"
    })
    const found = yield* Effect.forEach(
      [...Option.toArray(compose), ...Option.toArray(Either.getLeft(declared))],
      withoutSecretsIn
    )
    const problems = [...project.problems ?? [], ...found]
    const shown = Either.mapLeft(declared, () => found.map(formatFileProblem).at(-1) ?? "")
    return { ...project, problems, declared: shown, observedAt } satisfies KnownProject
  })

/** A project whose files Berth fails at: a defect of one project must not hide the others. */
const buildBroken = (project: LocalProject, observedAt: string): KnownProject => {
  const problem = { file: project.path, line: null, column: null, reason: "its files cannot be read: the log says why" }
  return {
    ...project,
    problems: [...project.problems ?? [], problem],
    declared: Either.left(problem.reason),
    observedAt
  }
}

/** A directory of which nothing is known but its name. */
const makeUnreadProject = (path: string) =>
  Effect.map(Path.Path, ({ basename }): LocalProject => ({
    name: basename(path),
    path,
    hasImageFile: false,
    hasComposeFile: false,
    hasPlatformJson: false,
    containerStatus: "none",
    tarFile: null,
    serverId: null,
    remotePath: resolveRemotePath({}, basename(path))
  }))

const nothing: Remembered = { project: Option.none(), signature: "" }

/** Inspects a directory; rereads its files only if their signature has changed. */
const look = (place: ProjectDirectory, before: Remembered | undefined) =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    if (!(yield* isDirectory(place))) return nothing
    const seen = yield* listProjectFiles(place.path)
    const signature = signatureOf(seen, now)
    const observedAt = new Date(now).toISOString()
    if (before !== undefined && signature !== "" && before.signature === signature) {
      return { signature, project: Option.map(before.project, (project) => ({ ...project, observedAt })) }
    }
    const project = yield* redactProject(yield* inspectProject(place.path, seen))
    if (!isDeployable(project)) return { signature, project: Option.none() }
    const read = Effect.catchAllDefect(readKnown(project, seen, observedAt), (defect) =>
      Effect.as(Effect.logError(`The files of ${place.path} cannot be read`, defect), buildBroken(project, observedAt)))
    return { signature, project: Option.some(yield* read) }
  }).pipe(
    Effect.orElseSucceed(() =>
      nothing
    ),
    Effect.catchAllDefect((defect) =>
      Effect.gen(function*() {
        yield* Effect.logError(`${place.path} cannot be read`, defect)
        const observedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
        return { project: Option.some(buildBroken(yield* makeUnreadProject(place.path), observedAt)), signature: "" }
      })
    )
  )

/**
 * Reads local projects with their declarations, and errors of unreadable ones. Projects not read by the deadline come
 * from the cache, with their time. All results are cached for the next call.
 */
export const readCachedProjects = (known: ProjectCache, { at, millis }: Deadline) =>
  Effect.gen(function*() {
    const before = yield* Ref.get(known)
    const end = Math.min(at, (yield* Clock.currentTimeMillis) + millis)
    const deadline = { at: end, millis: Number.POSITIVE_INFINITY }
    const listed = yield* withinDeadline(
      deadline,
      Effect.either(
        Effect.catchAll(listProjectDirectories(), ({ message }) => Effect.flatMap(scrubSecrets(message), Effect.fail))
      ),
      Either.left
    )
    if (Either.isLeft(listed)) {
      return { projects: [], errors: [`The projects are not known: ${listed.left}`] }
    }
    const places = listed.right
    const found = new Map<string, Remembered>()
    const all = Effect.forEach(
      places,
      (place) => Effect.map(look(place, before.get(place.path)), (seen) => void found.set(place.path, seen)),
      { concurrency: filesAtOnce, discard: true }
    )
    const late = yield* withinDeadline(deadline, Effect.as(all, ""), (reason) => reason)
    // Results after the deadline are left to the next overview.
    const now = new Map(places.flatMap(({ path }) => {
      const seen = found.get(path) ?? before.get(path)
      return seen === undefined ? [] : [[path, seen] as const]
    }))
    const count = places.filter(({ path }) => found.has(path)).length
    yield* Ref.set(known, now)
    return {
      projects: Arr.getSomes([...now.values()].map(({ project }) => project)),
      errors: late === ""
        ? []
        : [`Only ${count} of ${places.length} directories of projects were looked at: ${late}`]
    }
  }).pipe(Effect.withSpan("overview.knownProjects"))

/** A port that a container publishes on its server. */
interface PortBinding {
  /** Bind address; empty for all addresses. */
  readonly address: string
  readonly port: number
  readonly containerPort: number
}

const mapping = /^(.*):(\d{1,5})(?:-(\d{1,5}))?->(\d{1,5})(?:-\d{1,5})?\/tcp$/
const everyAddress: ReadonlySet<string> = new Set(["0.0.0.0", "::", ""])

/** Parses published TCP ports in Docker's notation: `0.0.0.0:2000->3000/tcp`, or a range of them. */
export const parsePublishedPorts = (ports: ReadonlyArray<string>): ReadonlyArray<PortBinding> =>
  ports.flatMap((words) => {
    const [, address = "", first, last = first, inside] = mapping.exec(words) ?? []
    if (first === undefined || last === undefined || inside === undefined) return []
    const bound = address.replace(/^\[(.*)\]$/, "$1").replace(/^::?$/, "::")
    const count = Math.min(Math.max(0, Number(last) - Number(first)), mostUrls) + 1
    return Array.from({ length: count }, (_, index): PortBinding => ({
      address: everyAddress.has(bound) ? "" : bound,
      port: Number(first) + index,
      containerPort: Number(inside) + index
    }))
  })

const portUrl = ({ host }: Pick<Server, "host">) => ({ address, containerPort, port }: PortBinding) =>
  linkToPort(host, { address, port, isEncrypted: containerPort === 443 })

/** Domains of the declared applications that the platform has. */
const declaredDomains = ({ declared }: KnownProject, applications: ReadonlyArray<ObservedApplication>) =>
  Either.getOrElse(declared, () => []).flatMap(({ declared: { entry: { domain, name } }, projectPath }) =>
    applications.some((app) => app.name === name && app.projectPath === projectPath && app.uuid !== null)
      ? Option.toArray(Option.fromNullable(domain))
      : []
  )

/** Hosts of a published port in the proxy file. A loopback address counts only for the proxy's own server. */
const proxied = (address: string, hosts: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (address === "") return hosts
  const host = bracketAddress(address).toLowerCase()
  return isLoopback(address) && !hosts.includes(host) ? [] : [host]
}

/** Links to a project: domains of its applications, domains routed to its ports, and the ports themselves. */
export const listProjectUrls = (
  project: KnownProject,
  { applications, hosts, ports, routed, server }: {
    readonly applications: ReadonlyArray<ObservedApplication>
    /** Addresses that refer to the server in the proxy file. */
    readonly hosts: ReadonlyArray<string>
    readonly ports: ReadonlyArray<string>
    readonly routed: ReadonlyArray<RoutedDomain>
    readonly server: Pick<Server, "host"> | undefined
  }
): ReadonlyArray<string> => {
  const published = server === undefined ? [] : parsePublishedPorts(ports)
  const targets = new Set(
    published.flatMap(({ address, port }) => proxied(address, hosts).map((host) => `${host}:${port}`))
  )
  const domains = [
    ...declaredDomains(project, applications),
    ...routed.flatMap(({ domain, target }) => (targets.has(target.toLowerCase()) ? [domain] : []))
  ]
  const urls = [
    ...domains.flatMap((domain) => linkTo("https", domain)),
    ...server === undefined ? [] : published.flatMap(portUrl(server))
  ]
  return [...new Set(urls)].slice(0, mostUrls)
}
