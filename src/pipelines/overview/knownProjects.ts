import { Array, Clock, Effect, Either, Option, Ref } from "effect"
import { type LocalProject, platformFileName } from "../../schema/Project.ts"
import { withoutSecrets } from "../../services/secrets/secretsInUse.ts"
import { readPlatformFile } from "../applications/platformFile.ts"
import { inspectProject } from "../projects/inspectProject.ts"
import { isDeployable, isThere, type ProjectPlace, projectPlaces } from "../projects/listProjects.ts"
import { type SeenFiles, seenFiles } from "../projects/seenFiles.ts"
import { shownProject } from "../projects/shownProject.ts"
import type { DeclaredHere } from "./observeApplications.ts"
import { type Deadline, within } from "./within.ts"

const filesAtOnce = 16
/** A file that was written just before it was read may be written again within the same tick of its clock. */
const settledAfter = 2_000

/** What is longer, in bytes, is read again each time: of a thousand projects this much may stay in memory. */
const longestKept = 64 * 1024

/** A project with the applications that it declares, or why those cannot be read, and when it was looked at. */
export interface KnownProject extends LocalProject {
  readonly declared: Either.Either<ReadonlyArray<DeclaredHere>, string>
  readonly observedAt: string
}

/** What is known of a directory; nothing where it holds nothing to deploy. */
interface Remembered {
  readonly project: Option.Option<KnownProject>
  /** What its files looked like; empty where they have to be read again in any case. */
  readonly signature: string
}

/** What earlier looks found, by directory: what has not changed since is not read again. */
export type Known = Ref.Ref<ReadonlyMap<string, Remembered>>

export const makeKnown: Effect.Effect<Known> = Ref.make<ReadonlyMap<string, Remembered>>(new Map())

const signatureOf = (seen: Option.Option<SeenFiles>, now: number): string =>
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

const declaredBy = (project: LocalProject, seen: Option.Option<SeenFiles>) =>
  project.hasPlatformJson
    ? readPlatformFile(
      project.path,
      Option.getOrUndefined(Option.flatMapNullable(seen, (files) => files.get(platformFileName)))
    ).pipe(
      Effect.map((apps) =>
        Option.getOrElse(apps, () => []).map((declared): DeclaredHere => ({ declared, projectPath: project.path }))
      ),
      Effect.catchAll(({ message }) => Effect.flatMap(withoutSecrets(message), Effect.fail)),
      Effect.either
    )
    : Effect.succeed(Either.right([]))

const nothing: Remembered = { project: Option.none(), signature: "" }

/** Looks at a directory; reads its files only where they are not as they were. */
const look = (place: ProjectPlace, before: Remembered | undefined) =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    if (!(yield* isThere(place))) return nothing
    const seen = yield* seenFiles(place.path)
    const signature = signatureOf(seen, now)
    const observedAt = new Date(now).toISOString()
    if (before !== undefined && signature !== "" && before.signature === signature) {
      return { signature, project: Option.map(before.project, (project) => ({ ...project, observedAt })) }
    }
    const project = yield* shownProject(yield* inspectProject(place.path, seen))
    if (!isDeployable(project)) return { signature, project: Option.none() }
    return { signature, project: Option.some({ ...project, declared: yield* declaredBy(project, seen), observedAt }) }
  }).pipe(Effect.orElseSucceed(() => nothing))

/**
 * The projects of this machine with what they declare, and what keeps any of them from being known. A project that there
 * is no time for is shown as it was, with the time when that was; what was looked at counts for the next time.
 */
export const knownProjects = (known: Known, { at, millis }: Deadline) =>
  Effect.gen(function*() {
    const before = yield* Ref.get(known)
    const end = Math.min(at, (yield* Clock.currentTimeMillis) + millis)
    const deadline = { at: end, millis: Number.POSITIVE_INFINITY }
    const listed = yield* within(
      deadline,
      Effect.either(
        Effect.catchAll(projectPlaces(), ({ message }) => Effect.flatMap(withoutSecrets(message), Effect.fail))
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
    const late = yield* within(deadline, Effect.as(all, ""), (reason) => reason)
    // What a look that is late finds after this is not the overview's any more.
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
