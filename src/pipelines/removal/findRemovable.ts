import type { Path } from "@effect/platform"
import { Array, Effect, Option, Order } from "effect"
import type { ChangelogEntry } from "../../schema/applications/Changelog.ts"
import { type PlatformFailure, type PlatformRecord, PlatformRefused } from "../../schema/applications/PlatformApp.ts"
import { Disclosed } from "../../schema/basics/Disclosed.ts"
import { platformFileName } from "../../schema/projects/Project.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { Repository } from "../../schema/webhooks/GitHook.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { Platform } from "../../services/platform/Platform.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import { planEntry } from "../applications/appPlan.ts"
import { findRecordedApplication } from "../applications/changelog.ts"
import { findHostPort } from "../applications/hostPort.ts"
import { makeUnplacedSource, readDeclaredEntry } from "../applications/platformFile.ts"
import { listProjectDirectories } from "../projects/listProjects.ts"
import { readRecordedRepository } from "../webhooks/recordedRepository.ts"

/** An application to remove: present on the platform, or missing there but recorded in the changelog of its project. */
export interface Removable {
  readonly uuid: string
  readonly name: string
  /** False if the application is missing on the platform. */
  readonly live: boolean
  /** Port of its route, if known. */
  readonly port: Option.Option<string>
  readonly repository: Effect.Effect<Option.Option<Repository>, SettingsError, Settings>
}

const liveApplication = (record: PlatformRecord) =>
  Effect.gen(function*(): Effect.fn.Return<Removable, never, Platform> {
    const { name, uuid } = record
    const envs = yield* Effect.option((yield* Platform).envs(uuid))
    const port = Option.flatMap(
      Option.flatMap(envs, findHostPort),
      ({ value }) => Disclosed.$is("Known")(value) ? Option.some(value.value) : Option.none()
    )
    return { uuid, name, live: true, port, repository: readRecordedRepository(record) }
  })

const byTime = Order.mapInput(Order.string, ({ timestamp }: ChangelogEntry) => timestamp)

/** Finds an application that is missing on the platform, by uuid or name, in the changelogs of the local projects. */
const goneApplication = (given: string) =>
  Effect.gen(function*() {
    const places = yield* Effect.orElseSucceed(listProjectDirectories(), () => [])
    const found = yield* Effect.forEach(places, ({ path }) =>
      Effect.map(findRecordedApplication(path, given), Option.map((entry) => ({ ...entry, path }))))
    const recorded = Array.getSomes(found)
    if (!Array.isNonEmptyArray(recorded)) {
      return Option.none()
    }
    const { appName: name, configSnapshot, path, uuid } = Array.max(recorded, byTime)
    const plan = yield* readDeclaredEntry(makeUnplacedSource(platformFileName))(configSnapshot, 0).pipe(
      Effect.flatMap((declared) =>
        planEntry(path, declared)
      ),
      Effect.option
    )
    return Option.some({
      uuid,
      name,
      live: false,
      port: Option.map(Option.flatMap(plan, ({ port }) => port), String),
      repository: Effect.succeed(Option.map(plan, ({ repository }) => repository))
    })
  })

/** True if the error means that the platform does not have the application. */
export const isMissing = (error: PlatformFailure | SettingsError) =>
  error instanceof PlatformRefused && error.upstream === 404

/** Finds an application to remove. One that is missing on the platform may still have a route and webhooks. */
export const findRemovable = (
  uuid: string
): Effect.Effect<Removable, PlatformFailure | SettingsError, LocalFiles | Path.Path | Platform | Settings> =>
  Effect.flatMap(Platform, (platform) => platform.application(uuid)).pipe(
    Effect.flatMap(liveApplication),
    Effect.catchIf(
      isMissing,
      (missing) =>
        Effect.flatMap(
          goneApplication(uuid),
          Option.match({ onNone: () => Effect.fail(missing), onSome: Effect.succeed })
        )
    )
  )
