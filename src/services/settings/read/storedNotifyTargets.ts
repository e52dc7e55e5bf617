import { Array, Effect, Either, Option, Record, Schema } from "effect"
import {
  NotifyEvents,
  NotifyFormat,
  NotifyName,
  type NotifyTarget,
  NotifyUrl
} from "../../../schema/notify/NotifyTarget.ts"
import { checkEntry, type CheckResult, combineChecks, failCheck, failUnknownSetting } from "./checked.ts"
import type { NamedTree, Tree } from "./parseYamlTree.ts"
import type { Resolver } from "./resolvedValue.ts"
import { isList, type LocatedValue } from "./settingValue.ts"

const field = <A, I>(schema: Schema.Schema<A, I>) => ({ decode: Schema.decodeUnknownEither(schema) })

/** The fields of an entry of `notify`. */
const targetFields = {
  name: field(NotifyName),
  url: field(NotifyUrl),
  events: field(NotifyEvents),
  format: field(NotifyFormat),
  secret: field(Schema.Redacted(Schema.NonEmptyString))
} as const
type TargetField = keyof typeof targetFields
const required = ["name", "url", "events", "format"] as const
const isTargetField = (name: string): name is TargetField => Object.hasOwn(targetFields, name)

/** The fields of a target whose values are secret. */
export const secretTargetFields = ["url", "secret"] as const

/** A target as written in the file, with unresolved references. */
export interface StoredNotifyTarget {
  readonly line: number
  readonly fields:
    & { readonly [Field in (typeof required)[number]]: LocatedValue }
    & { readonly secret?: LocatedValue }
}

const targetOf = (tree: Tree, index: number): CheckResult<StoredNotifyTarget> =>
  Either.gen(function*() {
    const at = `notify[${index}]`
    if (tree._tag !== "Map") return yield* failCheck(tree.line, at, "must have a name, a url, events and a format")
    const fieldOf = (named: NamedTree): CheckResult<Option.Option<readonly [TargetField, LocatedValue]>> => {
      const { line, name } = named
      return isTargetField(name)
        ? Either.map(
          checkEntry(`${at}.${name}`, targetFields[name].decode, named),
          Option.map((entry) => [name, entry])
        )
        : failUnknownSetting(line, `${at}.${name}`, name, Record.keys(targetFields))
    }
    const missing = required
      .filter((field) => !tree.entries.some(({ name, tree: { _tag } }) => name === field && _tag !== "Absent"))
      .map((field) => failCheck(tree.line, `${at}.${field}`, "is missing"))
    const found = yield* combineChecks([...tree.entries.map(fieldOf), ...missing])
    const fields: { readonly [Field in TargetField]?: LocatedValue } = Object.fromEntries(Array.getSomes(found))
    const one = (field: (typeof required)[number]) =>
      Either.fromNullable(fields[field], () => [{ line: tree.line, setting: `${at}.${field}`, reason: "is missing" }])
    const all = yield* Either.all({ name: one("name"), url: one("url"), events: one("events"), format: one("format") })
    return { line: tree.line, fields: { ...all, ...fields.secret === undefined ? {} : { secret: fields.secret } } }
  })

const nameOf = ({ fields: { name } }: StoredNotifyTarget) => isList(name.written) ? undefined : name.written.text

/** Reads `notify`; the names of targets must be unique. */
export const readStoredTargets = (tree: Tree): CheckResult<ReadonlyArray<StoredNotifyTarget>> =>
  Either.gen(function*() {
    if (tree._tag === "Absent") return []
    if (tree._tag !== "List") return yield* failCheck(tree.line, "notify", "must be a list of targets")
    const targets = yield* combineChecks(tree.items.map(targetOf))
    const names = targets.map(nameOf)
    const twin = targets.find((_, index) => names.indexOf(names[index]) < index)
    return twin === undefined
      ? targets
      : yield* failCheck(twin.line, "notify", "contains two targets with the same name")
  })

/** Targets with their references resolved. */
export const notifyTargetReader = (resolver: Resolver) => {
  const read = (index: number, { fields, line }: StoredNotifyTarget) => {
    const at = (field: string) => `notify[${index}].${field}`
    const url = resolver.value(at("url"), fields.url, targetFields.url.decode)
    const secret = fields.secret === undefined
      ? Effect.succeedNone
      : Effect.asSome(resolver.value(at("secret"), fields.secret, targetFields.secret.decode))
    const target = Effect.all({
      name: resolver.value(at("name"), fields.name, targetFields.name.decode),
      events: resolver.value(at("events"), fields.events, targetFields.events.decode),
      format: resolver.value(at("format"), fields.format, targetFields.format.decode)
    }).pipe(Effect.map((known): NotifyTarget => ({ ...known, access: Effect.all({ url, secret }) })))
    return { line, secret, target, url }
  }

  /** The targets whose name, events and format can be resolved. */
  const all = (stored: ReadonlyArray<StoredNotifyTarget>): Effect.Effect<ReadonlyArray<NotifyTarget>> =>
    Effect.map(Effect.forEach(stored, (one, index) => Effect.option(read(index, one).target)), Array.getSomes)

  /** Resolvable addresses and secrets of the targets. */
  const secrets = (stored: ReadonlyArray<StoredNotifyTarget>) =>
    Effect.map(
      Effect.forEach(stored, (one, index) => {
        const { secret, url } = read(index, one)
        return Effect.all([Effect.option(url), Effect.map(Effect.option(secret), Option.flatten)])
      }),
      (found) => found.flatMap(Array.getSomes)
    )

  /** Targets with their lines, and the reason why each cannot be notified, if any. */
  const judged = (stored: ReadonlyArray<StoredNotifyTarget>) =>
    Effect.forEach(stored, (one, index) => {
      const { line, target } = read(index, one)
      const whole = Effect.tap(target, ({ access }) => access)
      return Effect.all({
        line: Effect.succeed(line),
        name: Effect.succeed(nameOf(one) ?? ""),
        target: Effect.option(target),
        error: Effect.map(Effect.either(whole), Either.getLeft)
      })
    })

  return { all, judged, secrets }
}
