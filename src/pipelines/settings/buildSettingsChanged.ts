import { Effect } from "effect"
import type { SettingsChanged } from "../../schema/settings/SettingsList.ts"
import { CurrentCaller } from "../../services/access/Caller.ts"
import { computeFilePatch } from "../../services/parsing/computeFilePatch.ts"
import type { ChangedText } from "../../services/settings/values/maskedText.ts"

/** Loaded with the first change of a caller with a token. */
const loadMasks = Effect.promise(() => import("../../services/settings/values/maskedText.ts"))

/** A change of the settings file as the current caller sees it: with a token, without the words of its comments. */
export const buildSettingsChanged = (file: string, { after, before }: ChangedText): Effect.Effect<SettingsChanged> =>
  Effect.gen(function*() {
    if (before === after) return { file, changed: false, diff: "" }
    const { isLocal } = yield* CurrentCaller
    const { maskComments } = yield* loadMasks
    const shown = isLocal === true ? (text: string) => text : maskComments
    return { file, changed: true, diff: yield* computeFilePatch(file, shown(before), shown(after)) }
  })
