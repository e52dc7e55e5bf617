import { Array, Effect, Either, Option, Record, Redacted, Schema } from "effect"
import { type NamedToken, Role, SettingsInvalid, type SettingUnresolved, TokenName } from "../../schema/settings.ts"
import type { AccessToken } from "../../schema/tokens.ts"
import {
  checkEntry,
  type CheckResult,
  combineChecks,
  failCheck,
  failUnknownSetting,
  isList,
  type LocatedValue,
  type NamedTree,
  type Resolver,
  type Tree
} from "./settingValue.ts"

const field = <A, I>(schema: Schema.Schema<A, I>) => ({ decode: Schema.decodeUnknownEither(schema) })

/** The fields of an entry of `http.tokens`. */
const tokenFields = {
  name: field(TokenName),
  token: field(Schema.Redacted(Schema.NonEmptyString)),
  role: field(Role)
} as const
type TokenField = keyof typeof tokenFields
const isTokenField = (name: string): name is TokenField => Object.hasOwn(tokenFields, name)

/** A token as written in the file, with unresolved references. */
export interface StoredToken {
  readonly line: number
  readonly fields: { readonly [Field in TokenField]: LocatedValue }
}

const tokenOf = (tree: Tree, index: number): CheckResult<StoredToken> =>
  Either.gen(function*() {
    const at = `http.tokens[${index}]`
    if (tree._tag !== "Map") return yield* failCheck(tree.line, at, "must have a name, a token and a role")
    const fieldOf = (named: NamedTree): CheckResult<Option.Option<readonly [TokenField, LocatedValue]>> => {
      const { line, name } = named
      return isTokenField(name)
        ? Either.map(checkEntry(`${at}.${name}`, tokenFields[name].decode, named), Option.map((entry) => [name, entry]))
        : failUnknownSetting(line, `${at}.${name}`, name, Record.keys(tokenFields))
    }
    const missing = Record.keys(tokenFields)
      .filter((field) => !tree.entries.some(({ name, tree: { _tag } }) => name === field && _tag !== "Absent"))
      .map((field) => failCheck(tree.line, `${at}.${field}`, "is missing"))
    const found = yield* combineChecks([...tree.entries.map(fieldOf), ...missing])
    const fields: { readonly [Field in TokenField]?: LocatedValue } = Object.fromEntries(Array.getSomes(found))
    const required = (field: TokenField) =>
      Either.fromNullable(fields[field], () => [{ line: tree.line, setting: `${at}.${field}`, reason: "is missing" }])
    return {
      line: tree.line,
      fields: yield* Either.all({ name: required("name"), token: required("token"), role: required("role") })
    }
  })

/** Minimum length of a token; a shorter one can be guessed. */
export const shortestToken = 16

const textOf = ({ written }: LocatedValue) => isList(written) ? undefined : written.text

/** Reads `http.tokens`: each entry has a name, a token and a role; names and tokens are unique. */
export const readStoredTokens = (tree: Tree): CheckResult<ReadonlyArray<StoredToken>> =>
  Either.gen(function*() {
    if (tree._tag === "Absent") return []
    if (tree._tag !== "List") return yield* failCheck(tree.line, "http.tokens", "must be a list of tokens")
    const tokens = yield* combineChecks(tree.items.map(tokenOf))
    for (const field of ["name", "token"] as const) {
      const texts = tokens.map(({ fields }) => textOf(fields[field]))
      const twin = tokens.find((_, index) => texts.indexOf(texts[index]) < index)
      if (twin !== undefined) {
        return yield* failCheck(twin.line, "http.tokens", `contains two tokens with the same ${field}`)
      }
    }
    return tokens
  })

/** Tokens with their references resolved; fails if two of them resolve to the same value. */
export const makeTokenReader = (resolver: Resolver, file: string) => {
  const valueOf = ({ fields }: StoredToken, index: number) =>
    resolver.value(`http.tokens[${index}].token`, fields.token, tokenFields.token.decode)

  const one = (stored: StoredToken, index: number): Effect.Effect<NamedToken, SettingsInvalid | SettingUnresolved> =>
    Effect.all({
      name: resolver.value(`http.tokens[${index}].name`, stored.fields.name, tokenFields.name.decode),
      token: valueOf(stored, index),
      role: resolver.value(`http.tokens[${index}].role`, stored.fields.role, tokenFields.role.decode)
    })

  const all = (stored: ReadonlyArray<StoredToken>, general: Option.Option<Redacted.Redacted>) =>
    Effect.gen(function*() {
      const tokens = yield* Effect.forEach(stored, one)
      const names = tokens.map(({ name }) => name)
      const values = [...Option.toArray(general), ...tokens.map(({ token }) => token)].map(Redacted.value)
      const twin = new Set(names).size < names.length
        ? "name"
        : new Set(values).size < values.length
        ? "token"
        : undefined
      return twin === undefined ? tokens : yield* new SettingsInvalid({
        file,
        line: stored[0]?.line ?? null,
        setting: "http.tokens",
        reason: `contains two tokens with the same ${twin}, http.token included`
      })
    })

  /**
   * Names and roles as far as they resolve, each with the reason why nobody is let in with the token, if any.
   * @param general the value of `http.token`, if it has one
   */
  const listed = (
    stored: ReadonlyArray<StoredToken>,
    general: Option.Option<Redacted.Redacted> = Option.none()
  ): Effect.Effect<ReadonlyArray<AccessToken>> =>
    Effect.gen(function*() {
      const resolved = yield* Effect.forEach(stored, (token, index) => Effect.either(one(token, index)))
      const values = [
        ...Option.toArray(general).map((token) => ({ setting: "http.token", name: undefined, token })),
        ...resolved.flatMap((each, index) =>
          Either.isRight(each) ? [{ setting: `http.tokens[${index}]`, ...each.right }] : []
        )
      ]
      const twinOf = (setting: string, { name, token }: NamedToken) => {
        const twin = values.find((other) =>
          other.setting !== setting &&
          (other.name === name || Redacted.value(other.token) === Redacted.value(token))
        )
        return twin === undefined
          ? null
          : `${setting} has the same ${twin.name === name ? "name" : "token"} as ${twin.setting}`
      }
      return yield* Effect.forEach(Array.zip(stored, resolved), ([{ fields }, each], index) =>
        Effect.gen(function*() {
          const setting = `http.tokens[${index}]`
          const known = Effect.option(resolver.value(`${setting}.name`, fields.name, tokenFields.name.decode))
          return {
            name: Option.getOrElse(yield* known, () => textOf(fields.name) ?? ""),
            role: Option.getOrNull(
              yield* Effect.option(resolver.value(`${setting}.role`, fields.role, tokenFields.role.decode))
            ),
            setting,
            problem: Either.match(each, {
              onLeft: ({ message }) => message,
              onRight: (token) => twinOf(setting, token)
            })
          }
        }))
    })

  /** Resolvable secrets of the tokens. */
  const secrets = (stored: ReadonlyArray<StoredToken>) =>
    Effect.map(
      Effect.forEach(stored, (token, index) => Effect.option(valueOf(token, index))),
      Array.getSomes
    )

  /**
   * Those of the earlier tokens that may still be let in while some entries cannot be resolved: one whose entry says the
   * same, or whose entry may.
   */
  const unlessRemoved = (earlier: ReadonlyArray<NamedToken>, stored: ReadonlyArray<StoredToken>) =>
    Effect.map(
      Effect.forEach(stored, (token, index) =>
        Effect.all({
          name: Effect.option(resolver.value(`http.tokens[${index}].name`, token.fields.name, tokenFields.name.decode)),
          value: Effect.option(valueOf(token, index)),
          role: Effect.option(resolver.value(`http.tokens[${index}].role`, token.fields.role, tokenFields.role.decode))
        })),
      (entries) =>
        earlier.flatMap((each) => {
          const entry = entries.find(({ name, value }) =>
            Option.getOrElse(name, () => each.name) === each.name &&
            Option.match(value, {
              onNone: () => true,
              onSome: (now) => Redacted.value(now) === Redacted.value(each.token)
            })
          )
          // A right that was taken away ends at once; one that was given waits until all can be resolved.
          const isViewer = entry !== undefined && Option.contains(entry.role, "viewer")
          return entry === undefined ? [] : [isViewer ? { ...each, role: "viewer" as const } : each]
        })
    )

  /** Problems that the user has to fix: unresolved references, duplicates and short tokens. */
  const judged = (stored: ReadonlyArray<StoredToken>, general: Option.Option<Redacted.Redacted>, line: number) =>
    Effect.gen(function*() {
      const each = yield* Effect.forEach(
        stored,
        (token, index) =>
          Effect.either(Effect.map(one(token, index), (named) => ({
            token: named.token,
            setting: `http.tokens[${index}].token`,
            line: token.line
          })))
      )
      const unread = Array.getLefts(each)
      const together = unread.length > 0 ? [] : Option.toArray(yield* Effect.option(Effect.flip(all(stored, general))))
      const tokens = [
        ...Option.toArray(general).map((token) => ({ token, setting: "http.token", line })),
        ...Array.getRights(each)
      ]
      return {
        failed: [...unread, ...together],
        short: tokens.filter(({ token }) => Redacted.value(token).length < shortestToken)
      }
    })
  return { all, judged, listed, secrets, unlessRemoved }
}
