import { Effect, Option } from "effect"
import { findServer } from "../../schema/findServer.ts"
import type { ServerInput } from "../../schema/Server.ts"
import { SettingMissing } from "../../schema/Settings.ts"
import { findWith } from "./findSetting.ts"
import { makeGuard } from "./guardSettings.ts"
import { makeSecrets } from "./readSecrets.ts"
import { makeResolver } from "./resolvedValue.ts"
import { serverReader } from "./serverReader.ts"
import { serverWriter } from "./serverWriter.ts"
import { Settings, type SettingValues, type StoringWishes } from "./Settings.ts"
import type { SettingsDocument } from "./settingsDocument.ts"
import { makeFindings } from "./settingsFindings.ts"
import type { SettingsStore } from "./SettingsStore.ts"
import { tokenReader } from "./storedTokens.ts"

/** The settings over a store of their text. */
export const settingsFrom = (store: SettingsStore) =>
  Effect.gen(function*() {
    const { file } = store
    const resolver = yield* makeResolver(file)
    const findIn = findWith(resolver)
    const servers = serverReader(resolver)
    const tokens = tokenReader(resolver, file)
    const writer = yield* serverWriter(store, servers)
    const document = Effect.flatMap(store.current, (snapshot) => snapshot.document)

    const valuesOf = (settings: SettingsDocument): SettingValues => ({
      find: (name) => findIn(settings, name),
      get: (name) =>
        Effect.flatMap(
          findIn(settings, name),
          Option.match({
            onNone: () => new SettingMissing({ file, setting: name }),
            onSome: Effect.succeed
          })
        )
    })
    const now = Effect.map(document, valuesOf)

    return Settings.of({
      file,
      now,
      find: (name) => Effect.flatMap(now, ({ find }) => find(name)),
      get: (name) => Effect.flatMap(now, ({ get }) => get(name)),
      guard: yield* makeGuard(store, findIn, tokens),
      secrets: yield* makeSecrets(store.current, findIn, servers, tokens),
      findings: makeFindings(store, findIn, servers, tokens),
      servers: Effect.flatMap(
        document,
        ({ servers: stored }) => Effect.forEach(stored, (server, index) => servers.shown({ stored: server, index }))
      ).pipe(
        Effect.withSpan("Settings.servers")
      ),
      server: Effect.fn("Settings.server")(function*(idOrName: string) {
        const { servers: stored } = yield* document
        const found = yield* servers.withId(stored, idOrName)
        if (Option.isSome(found)) return yield* servers.access(found.value)
        return yield* servers.access((yield* findServer(yield* servers.named(stored), idOrName)).placed)
      }),
      saveServer: Effect.fn("Settings.saveServer")((input: ServerInput, wishes?: StoringWishes) =>
        writer.save(input, wishes)
      ),
      checkServer: Effect.fn("Settings.checkServer")((input: ServerInput, wishes: StoringWishes) =>
        writer.check(input, wishes)
      ),
      removeServer: Effect.fn("Settings.removeServer")((idOrName: string) => writer.remove(idOrName))
    })
  })
