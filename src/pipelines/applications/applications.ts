import { Array, Effect, Option } from "effect"
import type { CreateApp } from "../../schema/applications/CreateApp.ts"
import type {
  AppEnv,
  PlatformApp,
  PlatformFailure,
  PlatformRecord,
  Raw
} from "../../schema/applications/PlatformApp.ts"
import { Disclosed } from "../../schema/basics/Disclosed.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { logScrubbedWarning } from "../../services/secrets/secretsInUse.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { withAnswerBudget } from "../../services/upstream/answerBudget.ts"
import { buildCreateFields, type CreateDefaults } from "./buildCreateFields.ts"
import { disclosure, relayAnswer } from "./disclosure.ts"
import { findHostPort } from "./hostPort.ts"

const appsAtOnce = 16

const hostPortText = (envs: ReadonlyArray<AppEnv>): Option.Option<string> =>
  Option.flatMap(
    findHostPort(envs),
    ({ value }) => Disclosed.$is("Known")(value) ? Option.some(value.value) : Option.none()
  )

/**
 * Lists every application with its port and its environment variables, as far as the caller may read them; unreadable
 * ones are empty.
 */
export const listApplications = Effect.fn("listApplications")(function*(): Effect.fn.Return<
  ReadonlyArray<PlatformApp>,
  PlatformFailure | SettingsError,
  Platform | Settings
> {
  const platform = yield* Platform
  const shown = yield* disclosure
  return yield* Effect.forEach(yield* platform.applications, (app) =>
    Effect.map(
      platform.envs(app.uuid).pipe(
        Effect.tapError((error) => logScrubbedWarning(`The variables of "${app.name}" are unknown: ${error.message}`)),
        Effect.orElseSucceed(() => [])
      ),
      (envs): PlatformApp => ({
        ...shown.record(app.raw),
        _host_port: Option.getOrNull(Option.map(hostPortText(envs), shown.text)),
        _envs: envs.map(({ record }) => shown.record(record))
      })
    ), { concurrency: appsAtOnce })
}, withAnswerBudget)

/** The application with exactly this name. */
export const findApplication = Effect.fn("findApplication")(function*(
  name: string
): Effect.fn.Return<Option.Option<PlatformRecord>, PlatformFailure | SettingsError, Platform> {
  const platform = yield* Platform
  return Array.findFirst(yield* platform.applications, (app) => app.name === name)
})

/** Settings for new applications; looks up the default server only if none is named. */
export const readCreateDefaults = Effect.fn("readCreateDefaults")(function*(
  serverUuid: string | null | undefined
): Effect.fn.Return<CreateDefaults, SettingsError, Settings> {
  const settings = yield* Settings
  return {
    projectUuid: yield* settings.get("platform.projectUuid"),
    serverUuid: serverUuid === undefined || serverUuid === null || serverUuid === ""
      ? yield* settings.get("platform.defaultServerUuid")
      : serverUuid,
    privateKeyUuid: yield* settings.get("platform.privateKeyUuid")
  }
})

/** Shows the application with exactly this name, as far as the caller may read it. */
export const showApplication = Effect.fn("showApplication")(function*(
  name: string
): Effect.fn.Return<Raw | null, PlatformFailure | SettingsError, Platform | Settings> {
  const { record } = yield* disclosure
  return Option.match(yield* findApplication(name), { onNone: () => null, onSome: ({ raw }) => record(raw) })
})

/** Creates an application; returns the platform's answer. */
export const createApplication = Effect.fn("createApplication")(function*(
  app: CreateApp
): Effect.fn.Return<unknown, PlatformFailure | SettingsError, Platform | Settings> {
  const platform = yield* Platform
  return yield* relayAnswer(
    platform.createApplication(buildCreateFields(app, yield* readCreateDefaults(app.serverUuid)))
  )
})
