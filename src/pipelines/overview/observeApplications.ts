import { Clock, Effect, Either, Order, Predicate, Ref, Struct } from "effect"
import { differencesIn } from "../../schema/applications/Drift.ts"
import type { PlatformRecord } from "../../schema/applications/PlatformApp.ts"
import type { DeclaredApp } from "../../schema/applications/PlatformFile.ts"
import type { ObservedApplication } from "../../schema/Overview.ts"
import { reportDrift } from "../../services/notify/reportDrift.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { withAnswerBudget } from "../../services/upstream/answerBudget.ts"
import { detectDrift } from "../drift/detectDrift.ts"
import { withSharedReading } from "../routes/proxyFile.ts"
import { withinDeadline } from "./withinDeadline.ts"

/** Applications compared concurrently. */
const appsAtOnce = 16

/** Limit for reading the proxy file, so that a hanging server leaves enough time for all other comparisons. */
export const longestProxyReading = "2 seconds"

/** An application declared by a project. */
export interface LocalDeclaration {
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
    const compared = detectDrift(projectPath, declared, record, records).pipe(
      Effect.tap((found) => reportDrift({ projectPath, appName: name }, found)),
      Effect.map(differencesIn),
      Effect.map((drift): ObservedApplication => ({ ...application, drift })),
      Effect.catchAll(({ message }) => Effect.map(scrubSecrets(message), (error) => ({ ...application, error }))),
      // A defect concerns this application alone.
      Effect.catchAllDefect((defect) =>
        Effect.as(Effect.logError("Not compared", defect), { ...application, error: "Not compared: the log says why" })
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
