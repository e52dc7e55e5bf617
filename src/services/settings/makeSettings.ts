import { Effect, Option } from "effect"
import { findServer } from "../../schema/servers/findServer.ts"
import type { ServerInput } from "../../schema/servers/Server.ts"
import { SettingMissing, SettingsInvalid } from "../../schema/Settings.ts"
import { LocalFiles } from "../local/LocalFiles.ts"
import { resolveJumpRoute } from "../sshClient/jumpRoute.ts"
import type { SettingsStore } from "./file/SettingsStore.ts"
import { makeGuard } from "./guardSettings.ts"
import { makeNotifyTargets } from "./notifyTargets.ts"
import { findWith } from "./read/findSetting.ts"
import { makeServerReader } from "./read/makeServerReader.ts"
import { makeResolver } from "./read/resolvedValue.ts"
import type { StoredServer } from "./read/serverFields.ts"
import type { SettingsDocument } from "./read/settingsDocument.ts"
import { notifyTargetReader } from "./read/storedNotifyTargets.ts"
import { makeTokenReader } from "./read/storedTokens.ts"
import { makeSecrets } from "./readSecrets.ts"
import { findStoredJumpHost } from "./servers/findStoredJumpHost.ts"
import { makeServerWriter, type SaveOptions } from "./servers/makeServerWriter.ts"
import { Settings, type SettingValues, type StoredAccess } from "./Settings.ts"
import { makeFindings } from "./settingsFindings.ts"
import { listNotifyTargets } from "./values/listNotifyTargets.ts"
import { listSettings } from "./values/listSettings.ts"
import { makeSettingWriter } from "./values/makeSettingWriter.ts"
import { maskSettingsChange } from "./values/maskedText.ts"
import type { SettingChanges } from "./values/settingRights.ts"

/** Implements the settings over a store of their text. */
export const makeSettings = (store: SettingsStore) =>
  Effect.gen(function*() {
    const { file } = store
    const files = yield* LocalFiles
    const resolver = yield* makeResolver(file)
    const findIn = findWith(resolver)
    const servers = makeServerReader(resolver)
    const tokens = makeTokenReader(resolver, file)
    const targets = notifyTargetReader(resolver)
    const routeFor = (stored: ReadonlyArray<StoredServer>, jump: string) =>
      resolveJumpRoute(jump, findStoredJumpHost(servers, stored)).pipe(Effect.provideService(LocalFiles, files))
    const rights = Effect.map(
      Effect.promise(() => import("./servers/serverRights.ts")),
      ({ makeServerRights }) => makeServerRights(servers, routeFor)
    )
    const writer = yield* makeServerWriter(
      store,
      servers,
      (change) => Effect.flatMap(rights, ({ permitChange }) => permitChange(change))
    )
    const single = makeSettingWriter(store)
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

    const placedWith = (stored: ReadonlyArray<StoredServer>, idOrName: string) =>
      Effect.flatMap(
        servers.withId(stored, idOrName),
        Option.match({
          onNone: () =>
            Effect.flatMap(
              servers.named(stored),
              (named) => Effect.map(findServer(named, idOrName), ({ placed }) => placed)
            ),
          onSome: Effect.succeed
        })
      )
    const storedServer = Effect.fn("Settings.storedServer")(function*(idOrName: string) {
      const { servers: stored } = yield* document
      const placed = yield* placedWith(stored, idOrName)
      const { index, stored: { fields, line } } = placed
      const where = { file, line: fields.jump?.line ?? line, setting: `servers[${index}].jump` }
      const jump = servers.jumpOf(placed)
      const via = Effect.flatMap(jump, (hosts) =>
        hosts === null
          ? Effect.succeed(undefined)
          : Effect.catchTag(
            routeFor(stored, hosts),
            "JumpRefused",
            ({ reason }) => new SettingsInvalid({ ...where, reason })
          ))
      return { server: yield* servers.unroutedAccess(placed), jump, via } satisfies StoredAccess
    })

    return Settings.of({
      file,
      isStored: Effect.map(store.current, ({ isStored = true }) => isStored),
      now,
      find: (name) => Effect.flatMap(now, ({ find }) => find(name)),
      get: (name) => Effect.flatMap(now, ({ get }) => get(name)),
      guard: yield* makeGuard(store, findIn, tokens),
      secrets: yield* makeSecrets(store.current, findIn, servers, tokens, targets),
      findings: makeFindings(store, findIn, servers, tokens, targets),
      list: Effect.flatMap(document, listSettings(findIn, resolver)).pipe(Effect.withSpan("Settings.list")),
      targets: yield* makeNotifyTargets(document, targets),
      listedTargets: Effect.flatMap(document, listNotifyTargets(targets)).pipe(
        Effect.withSpan("Settings.listedTargets")
      ),
      planChange: Effect.fn("Settings.planChange")((changes: SettingChanges) => single.plan(changes)),
      changeSettings: Effect.fn("Settings.changeSettings")((changes: SettingChanges) => single.save(changes)),
      serverId: Effect.fn("Settings.serverId")(function*(idOrName: string) {
        const { servers: stored } = yield* document
        if (Option.isSome(yield* servers.withId(stored, idOrName))) return idOrName
        return (yield* findServer(yield* servers.named(stored), idOrName)).id
      }),
      servers: Effect.flatMap(
        document,
        ({ servers: stored }) => Effect.forEach(stored, (server, index) => servers.shown({ stored: server, index }))
      ).pipe(
        Effect.withSpan("Settings.servers")
      ),
      server: Effect.fn("Settings.server")(function*(idOrName: string) {
        const { jump: jumpHosts, server, via: lastJump } = yield* storedServer(idOrName)
        const [jump, via] = yield* Effect.all([jumpHosts, lastJump])
        return { ...server, ...(jump === null ? {} : { jump }), ...(via === undefined ? {} : { via }) }
      }),
      storedServer,
      jumpRoute: Effect.fn("Settings.jumpRoute")(function*(jump: string) {
        const { servers: stored } = yield* document
        return yield* routeFor(stored, jump)
      }),
      permitAccess: Effect.fn("Settings.permitAccess")(function*(input, via) {
        const { servers: stored } = yield* document
        yield* (yield* rights).permitAccess(stored, input, via)
      }),
      saveServer: Effect.fn("Settings.saveServer")((input: ServerInput, options?: SaveOptions) =>
        writer.save(input, options)
      ),
      planServer: Effect.fn("Settings.planServer")(function*(input: ServerInput, options: SaveOptions) {
        const { after, before, givenSecrets, index, server } = yield* writer.plan(input, options)
        return { server, text: maskSettingsChange(before, after, { server: { index, fields: givenSecrets } }) }
      }),
      checkServer: Effect.fn("Settings.checkServer")((input: ServerInput, options: SaveOptions) =>
        writer.check(input, options)
      ),
      removeServer: Effect.fn("Settings.removeServer")((idOrName: string) => writer.remove(idOrName))
    })
  })
