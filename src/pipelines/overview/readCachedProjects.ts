import { Array, Clock, Effect, Either, Option, Ref } from "effect"
import {
  composeFileNames,
  type FileProblem,
  formatFileProblem,
  type LocalProject,
  platformFileName
} from "../../schema/projects/Project.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import { readPlatformFile } from "../applications/platformFile.ts"
import { checkComposeFile } from "../projects/compose/composeFile.ts"
import { type ListedFiles, listProjectFiles } from "../projects/files/listProjectFiles.ts"
import { toFileProblem } from "../projects/files/toFileProblem.ts"
import { inspectProject } from "../projects/inspectProject.ts"
import { isDeployable, isDirectory, listProjectDirectories, type ProjectDirectory } from "../projects/listProjects.ts"
import { redactProject } from "../projects/redactProject.ts"
import type { LocalDeclaration } from "./observeApplications.ts"
import { type Deadline, withinDeadline } from "./withinDeadline.ts"

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
    Effect.catchAllDefect((defect) => Effect.as(Effect.logError(`${place.path} cannot be read`, defect), nothing))
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
      projects: Array.getSomes([...now.values()].map(({ project }) => project)),
      errors: late === ""
        ? []
        : [`Only ${count} of ${places.length} directories of projects were looked at: ${late}`]
    }
  }).pipe(Effect.withSpan("overview.knownProjects"))
