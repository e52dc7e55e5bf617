import { FileSystem, Path } from "@effect/platform"
import { Array, Config, Effect, Either, Option, Redacted, Schema } from "effect"
import { createHash } from "node:crypto"
import { limits } from "../../schema/basics.ts"
import { normalizeJumpList } from "../../schema/servers.ts"
import { type SettingName, SettingsUnavailable, SettingsUnconfirmed } from "../../schema/settings.ts"
import { type LocalFileFailed, LocalFiles, LocalFilesLive, privateFile } from "../local/LocalFiles.ts"
import { resolveHomeDirectory } from "../local/user.ts"
import { type FileLocked, Locks, makeConfirmationsLock } from "../locks/Locks.ts"
import { parseSettingsDocument, type SettingsDocument } from "./document.ts"
import { isList, type LocatedValue, toAbsolutePath } from "./settingValue.ts"

/** Path of the settings file, whether or not it exists. */
export interface SettingsLocation {
  readonly file: string
  /** False when the file was only found in the working directory: it applies once it is confirmed. */
  readonly isNamed: boolean
  /** The settings themselves; nothing is at the path then, which only stands for them in messages. */
  readonly text?: Redacted.Redacted
}

/** Variable that holds the settings themselves, for machines that keep no file with secrets. */
export const settingsVariable = "BERTH_SETTINGS"

export const toSettingsLocation = (given: SettingsLocation | string): SettingsLocation =>
  typeof given === "string" ? { file: given, isNamed: true } : given

/** A file in the directory of the user's own settings. */
export const resolveOwnSettingsPath = (path: Path.Path, name: string): string =>
  path.join(resolveHomeDirectory(), ".config", "berth", name)

/**
 * Locates the settings: the given file, else the text in `BERTH_SETTINGS`, else the file in `BERTH_CONFIG`, else `berth.yaml` in the working directory
 * if it exists, else `~/.config/berth/berth.yaml`.
 */
export const locateSettings = Effect.fn("locateSettings")(function*(given: Option.Option<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const text = yield* Config.option(Config.nonEmptyString(settingsVariable))
  if (Option.isNone(given) && Option.isSome(text)) {
    return toSettingsLocation({ file: settingsVariable, isNamed: true, text: Redacted.make(text.value) })
  }
  const environment = yield* Config.string("BERTH_CONFIG").pipe(Config.withDefault(""))
  const named = Option.getOrElse(given, () => environment)
  const here = path.resolve("berth.yaml")
  if (named !== "") return toSettingsLocation(toAbsolutePath(path, path.dirname(here), named))
  const own = resolveOwnSettingsPath(path, "berth.yaml")
  const isHere = here !== own && (yield* Effect.orElseSucceed(fs.exists(here), () => true))
  return toSettingsLocation(isHere ? { file: here, isNamed: false } : own)
})

/** A text of a settings file that the user confirmed, or that Berth made of one by an edit. */
const Confirmation = Schema.Struct({ file: Schema.String, sha256: Schema.String })
type Confirmation = typeof Confirmation.Type

const Confirmations = Schema.parseJson(Schema.Array(Confirmation))
const mostConfirmations = 200

const noteFile = Effect.map(Path.Path, (path) => resolveOwnSettingsPath(path, "trusted"))

const noted = Effect.gen(function*() {
  const files = yield* LocalFiles
  const file = yield* noteFile
  const entry = yield* files.find(file)
  if (!Option.exists(entry, ({ kind, size }) => kind === "file" && size <= limits.file)) return []
  return yield* Schema.decode(Confirmations)(new TextDecoder().decode(yield* files.read(file)))
}).pipe(Effect.orElseSucceed((): ReadonlyArray<Confirmation> => []))

/** Replaces the confirmations of a file. */
const note = (
  file: string,
  digests: ReadonlyArray<string>
): Effect.Effect<void, LocalFileFailed | FileLocked, LocalFiles | Locks | Path.Path> =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    const path = yield* Path.Path
    const locks = yield* Locks
    const target = yield* noteFile
    yield* files.makeDirectory(path.dirname(target), { mode: 0o700 })
    yield* locks.withLock(makeConfirmationsLock(target))(Effect.gen(function*() {
      const others = (yield* noted).filter((one) => one.file !== file)
      const all = [...others, ...digests.map((sha256) => ({ file, sha256 }))].slice(-mostConfirmations)
      yield* files.write(target, `${JSON.stringify(all, undefined, 1)}\n`, privateFile)
    }))
  })

/** Digest that identifies a confirmed text of a settings file. */
export const digestSettingsText = (bytes: Uint8Array | string): string =>
  createHash("sha256").update(bytes).digest("hex")

/** Digests of the confirmed texts of a settings file. */
export const readConfirmedDigests = (
  file: string
): Effect.Effect<ReadonlyArray<string>, never, LocalFiles | Path.Path> =>
  Effect.map(noted, (all) => all.flatMap((one) => one.file === file ? [one.sha256] : []))

/** Confirms one text of a settings file; replaces all earlier confirmations. */
export const confirmText = (file: string, sha256: string) => note(file, [sha256])

/**
 * Keeps a file confirmed that Berth is about to edit. Both texts are confirmed: the edit may still fail, and other
 * processes read the file meanwhile.
 */
export const keepConfirmed = (file: string, before: Uint8Array, after: string) =>
  Effect.gen(function*() {
    const earlier = digestSettingsText(before)
    if ((yield* readConfirmedDigests(file)).includes(earlier)) yield* note(file, [earlier, digestSettingsText(after)])
  })

const mostNamed = 5
const longestName = 100

const textsOf = (entry: LocatedValue | undefined): ReadonlyArray<string> =>
  entry === undefined ? [] : isList(entry.written) ? entry.written.map(({ text }) => text) : [entry.written.text]

const clause = (verb: string, all: ReadonlyArray<string>): ReadonlyArray<string> => {
  const names = Array.dedupe(all).map((name) => name.slice(0, longestName))
  const more = names.length > mostNamed ? [`${names.length - mostNamed} more`] : []
  return names.length === 0 ? [] : [`${verb} ${[...names.slice(0, mostNamed), ...more].join(", ")}`]
}

/** Host of an address, without its user and password. */
const originOf = (text: string) => URL.canParse(text) ? new URL(text).host : text

/** Describes the effects of settings: log-ins, calls, files that are read and programs that are run. */
export const describeUse = ({ servers, settings, targets, tokens }: SettingsDocument): ReadonlyArray<string> => {
  const written = (...names: ReadonlyArray<SettingName>) => names.flatMap((name) => textsOf(settings[name]))
  const all = [settings, ...[...servers, ...targets, ...tokens].map(({ fields }) => fields)]
    .flatMap((entries) => Object.values(entries)).flatMap(textsOf)
  const keys = servers.flatMap(({ fields }) => textsOf(fields.privateKey))
  const isAgentUsed = servers.some(({ fields }) => textsOf(fields.agent).includes("true"))
  const jumpsOf = ({ fields }: SettingsDocument["servers"][number]) =>
    textsOf(fields.jump).flatMap((text) => normalizeJumpList(text)?.split(",") ?? []).map((jump) => jump.trim())
  // A jump host that is not stored is offered the keys that ssh would offer.
  const clientKeys = servers.flatMap(jumpsOf).length === 0 ? [] : ["your SSH agent", "the keys of ~/.ssh"]
  return [
    ...clause(
      "log in to",
      servers.flatMap((server) => [
        ...jumpsOf(server),
        `${textsOf(server.fields.username).join("")}@${textsOf(server.fields.host).join("")}`
      ])
    ),
    ...clause("use", [...(isAgentUsed ? ["your SSH agent"] : []), ...clientKeys]),
    ...clause("read", [...keys, ...all.flatMap((text) => text.match(/\$\{(?:env|file):[^{}]*\}/g) ?? [])]),
    ...clause("ask", written("platform.url", "gitHost.url", "state.url").map(originOf)),
    ...clause("tell", targets.flatMap(({ fields }) => textsOf(fields.url)).map(originOf)),
    ...clause("send spans and metrics to", written("telemetry.otlp").map(originOf)),
    ...clause("run", [...written("editor.command").slice(0, 1), ...written("build.shell").slice(0, 1)]),
    ...clause("find projects in", written("projects.root"))
  ]
}

const requireConfirmed = Effect.fn("requireConfirmed")(function*(
  { file, isNamed }: SettingsLocation
): Effect.fn.Return<void, SettingsUnconfirmed | SettingsUnavailable, LocalFiles | Path.Path> {
  if (isNamed) return
  const files = yield* LocalFiles
  const unavailable = ({ reason }: { readonly reason: string }) => new SettingsUnavailable({ file, reason })
  const entry = yield* Effect.mapError(files.find(file), unavailable)
  if (Option.exists(entry, ({ size }) => size > limits.file)) {
    return yield* unavailable({ reason: `is larger than ${limits.file / 1024} KiB` })
  }
  const bytes = yield* Effect.mapError(files.read(file), unavailable)
  const confirmed = yield* readConfirmedDigests(file)
  const sha256 = digestSettingsText(bytes)
  if (confirmed.includes(sha256)) return
  return yield* new SettingsUnconfirmed({
    file,
    sha256,
    isChanged: confirmed.length > 0,
    uses: Either.match(parseSettingsDocument(file, new TextDecoder().decode(bytes)), {
      onLeft: ({ message }) => [message],
      onRight: describeUse
    })
  })
})

/**
 * Locates the settings, see `locateSettings`. Fails for a file that was only found in the working directory and whose
 * current text is not confirmed.
 */
export const requireConfirmedSettings = (given: Option.Option<string> = Option.none()) =>
  Effect.tap(locateSettings(given), requireConfirmed).pipe(Effect.provide(LocalFilesLive))
