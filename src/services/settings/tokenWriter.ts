import { Effect, Option, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { type Role, SettingsInvalid, type SettingsUnavailable } from "../../schema/settings.ts"
import { TokenNotFound, TokenTaken } from "../../schema/tokens.ts"
import { parseSettingsDocument, type SettingsDocument } from "./document.ts"
import { editList, ListEdit } from "./listEdits.ts"
import type { makeTokenReader } from "./readTokens.ts"
import type { Edited, SettingsStore, Snapshot } from "./SettingsFile.ts"

/** A stored token; the first one changes who is let in. */
export interface StoredNewToken {
  readonly token: Redacted.Redacted
  readonly isFirst: boolean
}

const countTokens = ({ settings, tokens }: SettingsDocument) =>
  tokens.length + (settings["http.token"] === undefined ? 0 : 1)

const makeToken = Effect.sync(() => Redacted.make(`berth_${randomBytes(32).toString("base64url")}`))

/** Writes tokens to the settings file. */
export const makeTokenWriter = ({ change, file }: SettingsStore, tokens: ReturnType<typeof makeTokenReader>) => {
  const edited = (text: string, edit: ListEdit, line: number | null) =>
    Effect.gen(function*() {
      const reason = "cannot be changed by Berth without risk to the rest of the file: change it by hand"
      const result = yield* Effect.mapError(
        editList(text, "tokens", edit),
        () => new SettingsInvalid({ file, line, setting: "http.tokens", reason })
      )
      yield* parseSettingsDocument(file, result)
      return Option.some(result)
    })

  const add = (
    name: string,
    role: Role
  ): Effect.Effect<StoredNewToken, TokenTaken | SettingsInvalid | SettingsUnavailable> =>
    change(({ document, text }: Snapshot) =>
      Effect.gen(function*() {
        const written = yield* document
        const stored = yield* tokens.listed(written.tokens)
        if (stored.some((each) => each.name === name)) return yield* new TokenTaken({ name })
        const token = yield* makeToken
        const edit = ListEdit.Add({ fields: { name, token: Redacted.value(token), role } })
        const answer: Edited<StoredNewToken> = [
          { token, isFirst: countTokens(written) === 0 },
          yield* edited(text, edit, null)
        ]
        return answer
      })
    )

  /** Removes the token with this name; true if it was the last one. */
  const remove = (name: string): Effect.Effect<boolean, TokenNotFound | SettingsInvalid | SettingsUnavailable> =>
    change(({ document, text }: Snapshot) =>
      Effect.gen(function*() {
        const written = yield* document
        const stored = yield* tokens.listed(written.tokens)
        const index = stored.findIndex((each) => each.name === name)
        if (index === -1) return yield* new TokenNotFound({ name, names: stored.map((each) => each.name) })
        const line = written.tokens[index]?.line ?? null
        const answer: Edited<boolean> = [
          countTokens(written) === 1,
          yield* edited(text, ListEdit.Remove({ index }), line)
        ]
        return answer
      })
    )

  return { add, remove }
}
