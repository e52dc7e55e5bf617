import { Path } from "@effect/platform"
import { Effect, Layer, Option, Redacted, Ref } from "effect"
import type { ServerAccess } from "../schema/servers.ts"
import { secretSettings, SettingMissing, type SettingName, type SettingValue } from "../schema/settings.ts"
import { parseSettingsDocument } from "../services/settings/document.ts"
import { Settings, type SettingValues } from "../services/settings/Settings.ts"
import type { Edited, SettingsStore, Snapshot } from "../services/settings/SettingsFile.ts"
import { makeSettings } from "../services/settings/SettingsLive.ts"
import { localFilesTest } from "./LocalFilesTest.ts"

const file = "berth.yaml"

/** Settings by their dotted names, as they are once they are read. */
export type SettingsFixture = { readonly [Name in SettingName]?: SettingValue<Name> }

/** A stored server like any other. */
export const storedServer = (given: Partial<ServerAccess> = {}): ServerAccess => ({
  id: "1",
  name: "Main",
  host: "192.168.1.20",
  port: 22,
  username: "deployer",
  useSudo: false,
  credentials: {},
  ...given
})

const written = ({ credentials, ...server }: ServerAccess) => ({
  ...server,
  ...Object.fromEntries(
    Object.entries(credentials).map((
      [field, value]
    ) => [field, Redacted.isRedacted(value) ? Redacted.value(value) : value])
  )
})

/** A settings file in memory, which starts with this text. */
const memoryStore = (text: string): Effect.Effect<SettingsStore> =>
  Effect.map(Effect.all([Ref.make(text), Effect.makeSemaphore(1)]), ([current, exclusive]) => {
    const snapshot = Effect.map(
      Ref.get(current),
      (now): Snapshot => ({ text: now, document: parseSettingsDocument(file, now) })
    )
    return {
      file,
      current: snapshot,
      change: <A, E>(edit: (snapshot: Snapshot) => Effect.Effect<Edited<A>, E>) =>
        Effect.gen(function*() {
          const [answer, next] = yield* edit(yield* snapshot)
          if (Option.isSome(next)) yield* Ref.set(current, next.value)
          return answer
        }).pipe(exclusive.withPermits(1))
    }
  })

/**
 * Settings in memory: those given, the defaults for the others, and these servers, which can be saved and removed as
 * in a file.
 */
export const settingsTest = (
  settings: SettingsFixture = {},
  servers: ReadonlyArray<ServerAccess> = []
): Layer.Layer<Settings> =>
  Layer.effect(
    Settings,
    Effect.gen(function*() {
      const inFile = yield* Effect.flatMap(
        memoryStore(JSON.stringify({ servers: servers.map(written) })),
        makeSettings
      )
      const find = <Name extends SettingName>(name: Name) => {
        const value: SettingsFixture[Name] = settings[name]
        return value === undefined ? inFile.find(name) : Effect.succeed(Option.some(value))
      }
      const values: SettingValues = {
        find,
        get: (name) =>
          Effect.flatMap(
            find(name),
            Option.match({
              onNone: () => new SettingMissing({ file, setting: name }),
              onSome: Effect.succeed
            })
          )
      }
      return Settings.of({
        ...inFile,
        ...values,
        now: Effect.succeed(values),
        secrets: Effect.map(
          inFile.secrets,
          (ofServers) => [...secretSettings.flatMap((name) => settings[name] ?? []), ...ofServers]
        ),
        guard: Effect.succeed({
          token: Option.fromNullable(settings["http.token"]),
          tokens: [],
          hosts: settings["http.hosts"] ?? [],
          origins: settings["http.origins"] ?? []
        })
      })
    })
  ).pipe(Layer.provide([localFilesTest(), Path.layer]))
