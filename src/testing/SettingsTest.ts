import { Path } from "@effect/platform"
import { Effect, Layer, Option, Redacted, Ref } from "effect"
import { secretSettings, SettingMissing, type SettingName, type SettingValue } from "../schema/settings.ts"
import type { ServerAccess } from "../schema/ssh.ts"
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

const snapshotOf = (text: string): Snapshot => ({ text, document: parseSettingsDocument(file, text) })

/** A settings file in memory, which starts with this text. */
const memoryStore = (text: string): Effect.Effect<SettingsStore> =>
  Effect.map(Effect.all([Ref.make(snapshotOf(text)), Effect.makeSemaphore(1)]), ([current, exclusive]) => ({
    file,
    current: Ref.get(current),
    change: <A, E>(edit: (snapshot: Snapshot) => Effect.Effect<Edited<A>, E>) =>
      Effect.gen(function*() {
        const [answer, next] = yield* edit(yield* Ref.get(current))
        if (Option.isSome(next)) yield* Ref.set(current, snapshotOf(next.value))
        return answer
      }).pipe(exclusive.withPermits(1))
  }))

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
      const ofSettings = secretSettings.flatMap((name) => settings[name] ?? [])
      // The same list until the settings change, as in a file: the forms of its secrets are computed once.
      let last: readonly [ofServers: unknown, all: ReadonlyArray<Redacted.Redacted>] = [undefined, ofSettings]
      return Settings.of({
        ...inFile,
        ...values,
        now: Effect.succeed(values),
        secrets: Effect.map(inFile.secrets, (ofServers) => {
          if (last[0] !== ofServers) last = [ofServers, [...ofSettings, ...ofServers]]
          return last[1]
        }),
        guard: Effect.succeed({
          token: Option.fromNullable(settings["http.token"]),
          tokens: [],
          hosts: settings["http.hosts"] ?? [],
          origins: settings["http.origins"] ?? []
        })
      })
    })
  ).pipe(Layer.provide([localFilesTest(), Path.layer]))
