import { Path } from "@effect/platform"
import { Array, Effect, Either, Layer, Option, Record, Redacted, Ref } from "effect"
import { randomUUID } from "node:crypto"
import type { NotifyTarget } from "../../schema/notify.ts"
import { findServer, type ServerFields } from "../../schema/servers.ts"
import {
  type GuardSettings,
  nameOfToken,
  type Role,
  settingDefinitions,
  SettingMissing,
  type SettingName,
  SettingsInvalid,
  type SettingsUnavailable,
  type SettingUnresolved
} from "../../schema/settings.ts"
import { type AccessToken, afterLastToken } from "../../schema/tokens.ts"
import { LocalFiles } from "../local/LocalFiles.ts"
import type { Locks } from "../locks/Locks.ts"
import { type JumpAddress, resolveJumpAddresses, resolveJumpRoute } from "../sshClient/jumpRoute.ts"
import { type SettingsLocation, toSettingsLocation } from "./confirm.ts"
import {
  type FindSetting,
  findWith,
  listSettingsProblems,
  parseHttpSettings,
  type SettingsDocument
} from "./document.ts"
import { makeServerReader, notifyTargetReader, type PlacedServer, type StoredServer } from "./readLists.ts"
import { makeTokenReader, shortestToken } from "./readTokens.ts"
import type { SettingChanges } from "./rights.ts"
import { makeRememberedSecrets, makeSecrets } from "./secretsInUse.ts"
import type { SaveOptions } from "./serverWriter.ts"
import {
  Settings,
  type SettingsError,
  type SettingsFinding,
  type SettingValues,
  type StoredAccess
} from "./Settings.ts"
import { clearUnfinished, makeEditableFile, type SettingsStore, type Snapshot } from "./SettingsFile.ts"
import { makeResolver } from "./settingValue.ts"

type Known = Effect.Effect.Success<ReturnType<ReturnType<typeof makeServerReader>["known"]>>

const isAt = ({ host, port, username }: JumpAddress) => (known: Known) =>
  known.host?.toLowerCase() === host.toLowerCase() && known.port === port &&
  (username === undefined || known.username === username)

const isSame = (one: JumpAddress, other: JumpAddress | undefined) =>
  one.host.toLowerCase() === other?.host.toLowerCase() && one.port === other.port

/** True when the jump hosts of a stored server are those named before it in the route. */
const isBehind = (jump: string | null | undefined, before: ReadonlyArray<JumpAddress>) =>
  jump === undefined
    ? Effect.succeed(false)
    : Effect.map(
      resolveJumpAddresses(jump ?? ""),
      (route) => route.length === before.length && before.every((hop, index) => isSame(hop, route[index]))
    )

/**
 * Finds the stored server of a jump host, if its fields can be read. For the first jump host of a route, a directly
 * reachable server is preferred; behind others, its own route must be the same.
 */
const findStoredJumpHost =
  (servers: ReturnType<typeof makeServerReader>, stored: ReadonlyArray<StoredServer>) =>
  (address: JumpAddress, before: ReadonlyArray<JumpAddress>) =>
    Effect.gen(function*() {
      const all = stored.map((server, index): PlacedServer => ({ stored: server, index }))
      const there = yield* Effect.filter(all, (placed) => Effect.map(servers.known(placed), isAt(address)))
      const behind = yield* Effect.findFirst(there, (placed) =>
        Effect.flatMap(servers.known(placed), ({ jump }) => isBehind(jump, before)))
      const found = Option.orElse(behind, () =>
        Option.filter(Option.fromNullable(there[0]), () => before.length === 0))
      return Option.isNone(found) ? Option.none() : Option.some(yield* servers.access(found.value))
    })

/** True when a text that cannot be parsed seems to contain `http` settings, which may require a token. */
const namesHttp = (text: string): boolean => /(?:^|[\s{,])(["']?)http(?:\.\w+)?\1\s*:(?!\/\/)/.test(text)
const isEmpty = (text: string): boolean => text.trim() === ""
const wantsToken = ({ token, tokens }: GuardSettings): boolean => Option.isSome(token) || tokens.length > 0

const unguarded: GuardSettings = { token: Option.none(), tokens: [], hosts: [], origins: [] }
// Replaces a required token that cannot be resolved with one that no client has.
const closed = (open: GuardSettings = unguarded): GuardSettings => ({
  ...open,
  token: Option.some(Redacted.make(randomUUID()))
})

const lost = `they required a token before, and name none now. ${afterLastToken}`

/** The document, or its `http` settings alone if another part is invalid. */
const documentIn = ({ document, text }: Snapshot): Option.Option<SettingsDocument> =>
  Option.orElse(Either.getRight(document), () => parseHttpSettings(text))

/**
 * Reads the current `http` settings. While the file is unreadable, empty or missing, as for a moment during a save, the
 * last settings apply; without earlier ones, a token that cannot be resolved refuses every request.
 * Removing all tokens while the service runs refuses every request too, instead of opening the service.
 */
const makeGuard = (
  store: SettingsStore,
  find: FindSetting,
  tokens: ReturnType<typeof makeTokenReader>
): Effect.Effect<Effect.Effect<GuardSettings>> =>
  Effect.gen(function*() {
    const last = yield* Ref.make(Option.none<GuardSettings>())
    const complaint = yield* Ref.make("")

    const complain = (message: string) =>
      Effect.flatMap(
        Ref.getAndSet(complaint, message),
        (before) =>
          Effect.when(Effect.logWarning(`The http settings cannot be used now: ${message}`), () => message !== before)
      )
    const orLast = (fallback: () => GuardSettings) => Effect.map(Ref.get(last), Option.getOrElse(fallback))

    const keep = (settings: GuardSettings) =>
      Effect.gen(function*() {
        const before = Option.filter(yield* Ref.get(last), wantsToken)
        const isLost = Option.isSome(before) && !wantsToken(settings)
        if (isLost) yield* complain(lost)
        else yield* Ref.set(complaint, "")
        const kept = isLost ? closed(settings) : settings
        yield* Ref.set(last, Option.some(kept))
        return kept
      })

    const listOr = (document: SettingsDocument, name: "http.hosts" | "http.origins", last: ReadonlyArray<string>) =>
      Effect.match(find(document, name), {
        onFailure: () => last,
        onSuccess: Option.getOrElse((): ReadonlyArray<string> => [])
      })

    /** The last settings without the tokens that the document no longer has. */
    const orStillNamed = (document: SettingsDocument) =>
      Effect.gen(function*() {
        const earlier = yield* Ref.get(last)
        if (Option.isNone(earlier)) return closed()
        const general = yield* Effect.either(find(document, "http.token"))
        const kept: GuardSettings = {
          ...earlier.value,
          token: Option.filter(earlier.value.token, (token) =>
            Either.match(general, {
              onLeft: () => true,
              onRight: Option.exists((now) => Redacted.value(now) === Redacted.value(token))
            })),
          tokens: yield* tokens.unlessRemoved(earlier.value.tokens, document.tokens),
          hosts: yield* listOr(document, "http.hosts", earlier.value.hosts),
          origins: yield* listOr(document, "http.origins", earlier.value.origins)
        }
        const now = wantsToken(kept) ? kept : closed(kept)
        yield* Ref.set(last, Option.some(now))
        return now
      })

    const readFrom = (document: SettingsDocument) =>
      Effect.all({
        token: find(document, "http.token"),
        tokens: Effect.flatMap(find(document, "http.token"), (general) => tokens.all(document.tokens, general)),
        hosts: Effect.map(find(document, "http.hosts"), Option.getOrElse(() => unguarded.hosts)),
        origins: Effect.map(find(document, "http.origins"), Option.getOrElse(() => unguarded.origins))
      }).pipe(
        Effect.flatMap(keep),
        Effect.catchAll((error) => Effect.zipRight(complain(error.message), orStillNamed(document)))
      )

    const readSnapshot = (snapshot: Snapshot) =>
      Effect.gen(function*() {
        const document = documentIn(snapshot)
        if (isEmpty(snapshot.text) && Option.isSome(yield* Ref.get(last))) return yield* orLast(closed)
        return yield* Option.match(document, {
          // The text is empty if it is unconfirmed or cannot be decoded.
          onNone: () => orLast(() => isEmpty(snapshot.text) || namesHttp(snapshot.text) ? closed() : unguarded),
          onSome: readFrom
        })
      })

    return store.current.pipe(
      Effect.option,
      Effect.flatMap(Option.match({ onNone: () => orLast(() => unguarded), onSome: readSnapshot }))
    )
  })

/** Reads the targets of notifications; returns the last ones while the file cannot be read. */
const makeNotifyTargets = (
  document: Effect.Effect<SettingsDocument, SettingsError>,
  reader: ReturnType<typeof notifyTargetReader>
): Effect.Effect<Effect.Effect<ReadonlyArray<NotifyTarget>>> =>
  Effect.map(Ref.make<ReadonlyArray<NotifyTarget>>([]), (last) =>
    document.pipe(
      Effect.flatMap(({ targets }) => reader.all(targets)),
      Effect.tap((targets) => Ref.set(last, targets)),
      Effect.orElse(() => Ref.get(last))
    ))

/** Settings that are useless without their companion. */
const companions = [["platform.url", "platform.token"], ["gitHost.url", "gitHost.owner"]] as const

/**
 * Finds all current problems of the settings file: invalid values, unresolved references, and settings without their
 * companion. Requests that do not need these settings are still served.
 */
const makeFindings = (
  { current, file }: SettingsStore,
  find: FindSetting,
  servers: ReturnType<typeof makeServerReader>,
  tokens: ReturnType<typeof makeTokenReader>,
  targets: ReturnType<typeof notifyTargetReader>
): Effect.Effect<ReadonlyArray<SettingsFinding>> => {
  const at = (line: number) => (error: SettingsInvalid | SettingUnresolved) => found(error, file, line)

  const inDocument = (document: SettingsDocument) =>
    Effect.gen(function*() {
      const { servers: stored, settings, targets: storedTargets, tokens: storedTokens } = document
      const names = Record.keys(settingDefinitions).filter((name) => settings[name] !== undefined)
      const lineOf = (name: SettingName) => settings[name]?.line ?? 1
      const ofSettings = yield* Effect.forEach(names, (name) =>
        Effect.either(
          Effect.mapError(find(document, name), at(lineOf(name)))
        ))
      const ofServers = yield* Effect.forEach(stored, (server, index) => servers.problems({ stored: server, index }))
      const general = yield* Effect.option(find(document, "http.token"))
      const ofTokens = yield* tokens.judged(storedTokens, Option.flatten(general), lineOf("http.token"))
      const ofTargets = yield* targets.judged(storedTargets)
      const alone = companions.filter(([name, companion]) =>
        settings[name] !== undefined && settings[companion] === undefined
      )
      return [
        ...Array.getLefts(ofSettings),
        ...ofServers.flat().map(({ error, line }) => found(error, file, line)),
        ...ofTokens.failed.map((error) => found(error, file, error._tag === "SettingsInvalid" ? error.line ?? 1 : 1)),
        ...ofTokens.short.map(({ line, setting }): SettingsFinding => ({
          problem: `${file}:${line}: ${setting} has fewer than ${shortestToken} characters, and can be guessed`,
          fix: "Make a longer one: openssl rand -hex 32"
        })),
        ...ofTargets.flatMap(({ error, line }) => Option.toArray(error).map((one) => found(one, file, line))),
        ...alone.map(([name, companion]): SettingsFinding => ({
          problem: `${file}:${lineOf(name)}: ${name} is set, but ${companion} is not`,
          fix: `Add ${companion}, which the calls to it need too`
        }))
      ]
    })

  return current.pipe(
    Effect.flatMap(({ document, text }) =>
      Either.match(document, {
        onRight: inDocument,
        onLeft: (first) => {
          const all = listSettingsProblems(file, text)
          return Effect.succeed((all.length === 0 ? [first] : all).map((error) => found(error, file, 1)))
        }
      })
    ),
    Effect.catchAll((error) => Effect.succeed([found(error, file, 1)]))
  )
}

/** Makes a finding about a setting on a line; an error about an invalid value already names its line. */
const found = (
  error: SettingsInvalid | SettingsUnavailable | SettingUnresolved,
  file: string,
  line: number
): SettingsFinding => ({
  problem: error._tag === "SettingUnresolved"
    ? `${file}:${line}: ${error.setting} cannot be resolved: ${error.reason}`
    : error.message,
  fix: fixOf(error)
})

const fixOf = (error: SettingsInvalid | SettingsUnavailable | SettingUnresolved): string => {
  switch (error._tag) {
    case "SettingUnresolved":
      return "Set what it names before the service needs it, or write the value in its place"
    case "SettingsUnavailable":
      return "Make the file readable for the user that runs the service"
    case "SettingsInvalid":
      return error.setting === null
        ? "Nothing of the file is in use until this is mended"
        : error.reason.startsWith("is not a setting")
        ? "Rename it, or remove the line"
        : "Correct the value, or remove the line to have the default"
  }
}

/** Implements the settings over a store of their text. */
export const makeSettings = (store: SettingsStore) =>
  Effect.gen(function*() {
    const { directory, file, isLasting = true } = store
    const path = yield* Path.Path
    const files = yield* LocalFiles
    const resolver = yield* makeResolver(file)
    const findIn = findWith(resolver)
    const servers = makeServerReader(resolver)
    const tokens = makeTokenReader(resolver, file)
    const targets = notifyTargetReader(resolver)
    const routeFor = (stored: ReadonlyArray<StoredServer>, jump: string) =>
      resolveJumpRoute(jump, findStoredJumpHost(servers, stored)).pipe(Effect.provideService(LocalFiles, files))
    const rights = Effect.map(
      Effect.promise(() => import("./rights.ts")),
      ({ makeServerRights }) => makeServerRights(servers, routeFor)
    )
    // Shared by all callers, since it gives out ids.
    const writer = yield* Effect.cached(
      Effect.flatMap(
        Effect.promise(() => import("./serverWriter.ts")),
        ({ makeServerWriter }) =>
          makeServerWriter(
            store,
            servers,
            (change) => Effect.flatMap(rights, ({ permitChange }) => permitChange(change))
          )
      )
    )
    const tokenWriter = Effect.map(
      Effect.promise(() => import("./serverWriter.ts")),
      ({ makeTokenWriter }) => makeTokenWriter(store, tokens)
    )
    const values = Effect.promise(() => import("./values.ts"))
    const single = Effect.map(values, ({ makeSettingWriter }) => makeSettingWriter(store))
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
    const remembered = yield* makeRememberedSecrets(yield* makeSecrets(store.current, findIn, servers, tokens, targets))

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
      directory: directory ?? path.dirname(file),
      isLasting,
      isStored: Effect.map(store.current, ({ isStored = true }) => isStored),
      now,
      find: (name) => Effect.flatMap(now, ({ find }) => find(name)),
      get: (name) => Effect.flatMap(now, ({ get }) => get(name)),
      guard: yield* makeGuard(store, findIn, tokens),
      ...remembered,
      findings: makeFindings(store, findIn, servers, tokens, targets),
      list: Effect.flatMap(values, ({ listSettings }) => Effect.flatMap(document, listSettings(findIn, resolver))).pipe(
        Effect.withSpan("Settings.list")
      ),
      targets: yield* makeNotifyTargets(document, targets),
      listedTargets: Effect.flatMap(values, ({ listNotifyTargets }) =>
        Effect.flatMap(document, listNotifyTargets(targets))).pipe(
          Effect.withSpan("Settings.listedTargets")
        ),
      planChange: Effect.fn("Settings.planChange")((changes: SettingChanges) =>
        Effect.flatMap(single, ({ plan }) =>
          plan(changes))
      ),
      changeSettings: Effect.fn("Settings.changeSettings")((changes: SettingChanges) =>
        Effect.flatMap(single, ({ save }) => save(changes))
      ),
      tokens: Effect.gen(function*() {
        const written = yield* document
        const general = yield* Effect.either(findIn(written, "http.token"))
        const problem = Either.match(general, { onLeft: ({ message }) => message, onRight: () => null })
        const ofSetting: AccessToken = { name: nameOfToken, role: "operator", setting: "http.token", problem }
        return [
          ...(written.settings["http.token"] === undefined ? [] : [ofSetting]),
          ...yield* tokens.listed(written.tokens, Option.flatten(Either.getRight(general)))
        ]
      }).pipe(Effect.withSpan("Settings.tokens")),
      addToken: Effect.fn("Settings.addToken")((name: string, role: Role) =>
        Effect.flatMap(tokenWriter, ({ add }) => add(name, role))
      ),
      removeToken: Effect.fn("Settings.removeToken")((name: string) =>
        Effect.flatMap(tokenWriter, ({ remove }) => remove(name))
      ),
      serverId: Effect.fn("Settings.serverId")(function*(idOrName: string) {
        const { servers: stored } = yield* document
        if (Option.isSome(yield* servers.withId(stored, idOrName))) {
          return idOrName
        }
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
      saveServer: Effect.fn("Settings.saveServer")((input: ServerFields, options?: SaveOptions) =>
        Effect.flatMap(writer, ({ save }) => save(input, options))
      ),
      planServer: Effect.fn("Settings.planServer")(function*(input: ServerFields, options: SaveOptions) {
        const { after, before, givenSecrets, index, server } = yield* Effect.flatMap(writer, ({ plan }) =>
          plan(input, options))
        const { maskSettingsChange } = yield* values
        return { server, text: maskSettingsChange(before, after, { server: { index, fields: givenSecrets } }) }
      }),
      checkServer: Effect.fn("Settings.checkServer")((input: ServerFields, options: SaveOptions) =>
        Effect.flatMap(writer, ({ check }) =>
          check(input, options))
      ),
      removeServer: Effect.fn("Settings.removeServer")((idOrName: string) =>
        Effect.flatMap(writer, ({ remove }) =>
          remove(idOrName))
      )
    })
  })

/**
 * Settings in a YAML file, which is read again whenever it has changed. A missing file means the defaults. A file that
 * was not named explicitly applies only while its current text is confirmed. Or the settings of a variable's text.
 */
export const SettingsLive = (
  given: SettingsLocation | string
): Layer.Layer<Settings, never, LocalFiles | Locks | Path.Path> =>
  Layer.scoped(
    Settings,
    Effect.gen(function*() {
      const place = toSettingsLocation(given)
      if (place.text === undefined) {
        yield* clearUnfinished(place.file)
        return yield* Effect.flatMap(makeEditableFile(place), makeSettings)
      }
      const { makeVariableSettings } = yield* Effect.promise(() => import("./file/variableSettings.ts"))
      return yield* Effect.flatMap(makeVariableSettings(place.file, place.text), makeSettings)
    })
  )
