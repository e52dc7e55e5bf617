import { Path } from "@effect/platform"
import { Effect, Either, Option } from "effect"
import { settingDefinitions } from "../schema/settings.ts"
import type {
  ProjectsRoot,
  SettingForbidden,
  SettingJson,
  SettingRefused,
  SettingsChange,
  SettingsChanged,
  SettingsList
} from "../schema/settingsList.ts"
import {
  firstTokenConsequence,
  lastTokenConsequence,
  type TokenAdded,
  TokenForbidden,
  type TokenList,
  type TokenNotFound,
  type TokenRemoved,
  type TokenRequest,
  tokensRefusal,
  type TokenTaken
} from "../schema/tokens.ts"
import { CurrentCaller, mayChange } from "../services/access/Caller.ts"
import { type LocalFileFailed, LocalFiles } from "../services/local/LocalFiles.ts"
import { computeFilePatch, maskComments } from "../services/parsing.ts"
import { findSettingRefusal } from "../services/settings/rights.ts"
import { Settings, type SettingsError } from "../services/settings/Settings.ts"
import { hasReference, toAbsolutePath } from "../services/settings/settingValue.ts"
import type { ChangedText } from "../services/settings/values.ts"
import { listProjectsIn } from "./projects/projects.ts"

/** A change of the settings file as the current caller sees it: with a token, without the words of its comments. */
export const buildSettingsChanged = (file: string, { after, before }: ChangedText): Effect.Effect<SettingsChanged> =>
  Effect.gen(function*() {
    if (before === after) return { file, changed: false, diff: "" }
    const { isLocal } = yield* CurrentCaller
    const shown = isLocal === true ? (text: string) => text : maskComments
    return { file, changed: true, diff: yield* computeFilePatch(file, shown(before), shown(after)) }
  })

/** Directory that `projects.root` would name; none for a reference, which is only resolved once stored. */
const rootPath = (value: SettingJson) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const { file } = yield* Settings
    const text = value ?? settingDefinitions["projects.root"].fallback
    return typeof text !== "string" || text === "" || hasReference(text)
      ? Option.none()
      : Option.some(toAbsolutePath(path, path.dirname(file), text))
  })

// Limit for a form that inspects paths while the user types: a huge directory must not block it.
const mostPlaces = 1_000

/** Inspects a directory as a possible projects root. */
const inspect = (path: string) =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    const standing = (standing: ProjectsRoot["standing"], projects = 0): ProjectsRoot => ({ path, standing, projects })
    const found = yield* Effect.either(files.find(path))
    if (Either.isLeft(found)) return standing("unreadable")
    if (Option.isNone(found.right)) return standing("missing")
    if (found.right.value.kind !== "directory") return standing("not a directory")
    return yield* Effect.match(listProjectsIn(path, mostPlaces), {
      onFailure: () => standing("unreadable"),
      onSuccess: ({ length }) => standing("usable", length)
    })
  })

/**
 * Inspects the directory that `projects.root` would name.
 * @param create creates the directory if it is missing
 */
const inspectRoot = Effect.fn("settings.inspectRoot")(function*(value: SettingJson, create: boolean) {
  const path = yield* rootPath(value)
  if (Option.isNone(path)) return Option.none<ProjectsRoot>()
  const seen = yield* inspect(path.value)
  if (!create || seen.standing !== "missing") return Option.some(seen)
  yield* (yield* LocalFiles).makeDirectory(path.value)
  return Option.some(yield* inspect(path.value))
})

const rootSetting = "projects.root"

/** Changes individual settings in the file, or only returns the diff. */
export const changeSettings = Effect.fn("changeSettings")(function*(
  change: SettingsChange,
  isPlan: boolean
): Effect.fn.Return<
  SettingsChanged,
  SettingForbidden | SettingRefused | SettingsError | LocalFileFailed,
  Settings | LocalFiles | Path.Path
> {
  const { settings: values, createDirectory = false } = change
  const settings = yield* Settings
  // Do not create the file for a change that is then rejected.
  const planned = yield* settings.planChange(values)
  const root = Object.hasOwn(values, rootSetting)
    ? yield* inspectRoot(values[rootSetting] ?? null, createDirectory && !isPlan)
    : Option.none()
  const changed = isPlan ? planned : yield* settings.changeSettings(values)
  return {
    ...yield* buildSettingsChanged(settings.file, changed),
    ...(Option.isSome(root) ? { projectsRoot: root.value } : {})
  }
})

/** Reason, as a sentence, why the current caller may not change a setting; null if permitted. */
export const findChangeRefusal = (setting: string) =>
  Effect.gen(function*() {
    const caller = yield* CurrentCaller
    const { limitedBy, role } = caller
    if (!mayChange(role)) {
      return limitedBy === undefined
        ? "A viewer changes nothing"
        : `Agents may only read here: the setting ${limitedBy} is on`
    }
    const reason = findSettingRefusal(setting, caller)
    return reason === undefined
      ? null
      : `It ${reason}: change it there with berth settings set ${setting}, or in the file`
  })

/** Fetches all settings, with the reason if the caller may not change them. */
export const showSettings: Effect.Effect<SettingsList, SettingsError, Settings> = Effect.gen(function*() {
  const { file, isStored, list, listedTargets } = yield* Settings
  const settings = yield* Effect.forEach(
    yield* list,
    (setting) => Effect.map(findChangeRefusal(setting.name), (refusal) => ({ ...setting, refusal }))
  )
  const exists = (yield* isStored) ? {} : { exists: false }
  return { file, ...exists, settings, notify: yield* listedTargets }
}).pipe(Effect.withSpan("showSettings"))

/** A token must not widen its own rights, nor outlive its removal under another name. */
const requireOwnUser = Effect.flatMap(
  CurrentCaller,
  ({ isLocal, role }) => isLocal === true && mayChange(role) ? Effect.void : new TokenForbidden()
)

/** Lists the tokens of the settings without their values. */
export const listTokens: Effect.Effect<TokenList, SettingsError, Settings> = Effect.gen(function*() {
  const { file, tokens } = yield* Settings
  const all = yield* tokens
  const refusal = yield* Effect.match(requireOwnUser, { onFailure: () => tokensRefusal, onSuccess: () => null })
  return {
    file,
    tokens: all,
    refusal,
    onAdd: all.length === 0 ? firstTokenConsequence : null,
    onRemove: all.length === 1 ? lastTokenConsequence : null
  }
}).pipe(Effect.withSpan("listTokens"))

/** Stores a new token; its value is in this answer alone. */
export const addToken = Effect.fn("addToken")(function*(
  { name, role }: TokenRequest
): Effect.fn.Return<TokenAdded, TokenForbidden | TokenTaken | SettingsError, Settings> {
  yield* requireOwnUser
  const { addToken: store, file } = yield* Settings
  const { isFirst, token } = yield* store(name, role)
  return { file, name, role, token, consequence: isFirst ? firstTokenConsequence : null }
})

/** Removes a token. Its sessions end with it. */
export const removeToken = Effect.fn("removeToken")(function*(
  name: string
): Effect.fn.Return<TokenRemoved, TokenForbidden | TokenNotFound | SettingsError, Settings> {
  yield* requireOwnUser
  const { file, removeToken: remove } = yield* Settings
  const wasLast = yield* remove(name)
  return { file, name, consequence: wasLast ? lastTokenConsequence : null }
})
