import { Path } from "@effect/platform"
import { Array, Config, Context, Effect, Either, Option, type ParseResult } from "effect"
import { type Alias, type Document, isAlias, isMap, isNode, isScalar, isSeq, type Node, visit } from "yaml"
import { limits } from "../../schema/basics.ts"
import {
  settingDefinitions,
  type SettingName,
  SettingsInvalid,
  SettingUnresolved,
  type SettingValue
} from "../../schema/settings.ts"
import { collectValidationIssues } from "../../schema/validation.ts"
import { suggestNearest } from "../../schema/words.ts"
import { LocalFiles } from "../local/LocalFiles.ts"
import { resolveHomeDirectory } from "../local/user.ts"
import { parseYaml, type TextPosition, type YamlText } from "../parsing.ts"

/** Makes a local path absolute: `~` is the home directory, a relative path is relative to `folder`. */
export const toAbsolutePath = (path: Path.Path, folder: string, text: string): string =>
  /^~(?:[/\\]|$)/.test(text) ? path.join(resolveHomeDirectory(), text.slice(1)) : path.resolve(folder, text)

const reference = /\$\{(env|file):([^{}]*)\}/g
const maxBytes = 1024 * 1024

/** Detects `${env:NAME}` and `${file:PATH}`. */
export const hasReference = (text: string): boolean => text.search(reference) !== -1

const fromEnvironment = (name: string) =>
  Config.option(Config.string(name)).pipe(
    Effect.mapError(() => `the environment variable ${name} cannot be read`),
    Effect.flatMap(Option.filter((text) => text !== "")),
    Effect.mapError((error) => typeof error === "string" ? error : `the environment variable ${name} is not set`)
  )

/** Reads a file, such as a mounted secret, without trailing line breaks. */
const fromFile = (name: string, folder: string) =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    const file = toAbsolutePath(yield* Path.Path, folder, name)
    const found = yield* Effect.mapError(files.find(file), ({ message }) => message)
    if (Option.isNone(found)) return yield* Effect.fail(`the file ${file} does not exist`)
    if (found.value.kind !== "file") return yield* Effect.fail(`${file} is not a regular file`)
    if (found.value.size > maxBytes) return yield* Effect.fail(`${file} is larger than 1 MiB`)
    const bytes = yield* Effect.mapError(files.read(file), ({ message }) => message)
    const text = yield* Effect.try({
      try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/(?<![\r\n])[\r\n]+$/, ""),
      catch: () => `${file} is not valid UTF-8`
    })
    return text === "" ? yield* Effect.fail(`${file} is empty`) : text
  })

/**
 * Replaces every `${env:NAME}` and `${file:PATH}` in a text. Paths are relative to `folder`. Fails with the reason when
 * a variable or file is missing or empty.
 */
const resolveReferences = (text: string, folder: string) =>
  Effect.reduce([...text.matchAll(reference)], { text: "", from: 0 }, (done, match) => {
    const [whole, kind, name = ""] = match
    const resolved: Effect.Effect<string, string, LocalFiles | Path.Path> = name.trim() === ""
      ? Effect.fail(`${whole} names nothing`)
      : kind === "env"
      ? fromEnvironment(name.trim())
      : fromFile(name.trim(), folder)
    return Effect.map(resolved, (value) => ({
      text: done.text + text.slice(done.from, match.index) + value,
      from: match.index + whole.length
    }))
  }).pipe(Effect.map((done) => done.text + text.slice(done.from)))

/** A scalar of the settings file: its YAML value and its text. */
export interface Scalar {
  readonly value: string | number | boolean
  readonly text: string
}

/** Unresolved value of a setting. */
export type UnresolvedValue = Scalar | ReadonlyArray<Scalar>

/** A value and its line, counted from 1. */
export interface LocatedValue {
  readonly line: number
  readonly written: UnresolvedValue
}

export const isList = (written: UnresolvedValue): written is ReadonlyArray<Scalar> => Array.isArray(written)

/** Makes a scalar from a text alone, such as an environment variable. */
export const makeTextScalar = (text: string): Scalar => ({ value: text, text })

const number = /^-?\d+(?:\.\d+)?$/

/** Candidate values of a scalar: itself, then its text when it looks like another type, and the reverse. */
const readings = ({ text, value }: Scalar): ReadonlyArray<unknown> =>
  typeof value !== "string"
    ? [value, text]
    : number.test(text)
    ? [text, Number(text)]
    : text === "true" || text === "false"
    ? [text, text === "true"]
    : [text]

/** Decoder of a schema. */
export type Decode<A> = (value: unknown) => Either.Either<A, ParseResult.ParseError>

const reasonOf = ({ issue }: ParseResult.ParseError): string =>
  collectValidationIssues(issue)[0]?.words ?? "does not fit"

/** Decodes the value of a setting. The reason of a failure never contains the value. */
export const decodeWritten = <A>(decode: Decode<A>, written: UnresolvedValue): Either.Either<A, string> => {
  const candidates = isList(written) ? [written.map(({ text }) => text)] : readings(written)
  const decoded = candidates.map((value) => decode(value))
  const first = Option.orElse(Array.findFirst(decoded, Either.isRight), () => Array.head(decoded))
  return Option.match(first, {
    onNone: () => Either.left("does not fit"),
    onSome: Either.mapLeft(reasonOf)
  })
}

/** Decoder and default of a setting. */
interface SettingDefinition<A> {
  readonly decode: Decode<A>
  readonly fallback: A | undefined
}
export const definitions: { readonly [Name in SettingName]: SettingDefinition<SettingValue<Name>> } = settingDefinitions

/** Value of a YAML text, aliases resolved, with lines counted from 1. Empty texts count as absent. */
export type Tree =
  | { readonly _tag: "Absent"; readonly line: number }
  | { readonly _tag: "Scalar"; readonly line: number; readonly scalar: Scalar }
  | { readonly _tag: "List"; readonly line: number; readonly items: ReadonlyArray<Tree> }
  | { readonly _tag: "Map"; readonly line: number; readonly entries: ReadonlyArray<NamedTree> }

export interface NamedTree {
  readonly name: string
  readonly line: number
  readonly tree: Tree
}

/** Reason and place of a YAML syntax error. */
interface YamlProblem extends TextPosition {
  readonly reason: string
}

// Replaces messages of the library that may quote the text at the error, such as a password.
const words: { readonly [code: string]: string } = {
  BAD_ALIAS: "a string that starts with * or & must be quoted",
  BAD_DQ_ESCAPE: "an escape sequence is unknown: write \\\\ for a backslash, or use single quotes",
  MULTIPLE_DOCS: "there is more than one document",
  TAG_RESOLVE_FAILED: "a string that starts with ! must be quoted",
  UNEXPECTED_TOKEN: "something unexpected stands here"
}

const deepest = 8

/** Resolves each alias to the last preceding node with its anchor. */
const aliasesOf = (document: Document): ReadonlyMap<Alias, Node> => {
  const anchors = new Map<string, Node>()
  const targets = new Map<Alias, Node>()
  visit(document, {
    Node: (_, node) => {
      const target = isAlias(node) ? anchors.get(node.source) : undefined
      if (isAlias(node) && target !== undefined) targets.set(node, target)
      if (!isAlias(node) && node.anchor !== undefined) anchors.set(node.anchor, node)
    }
  })
  return targets
}

/** Reads a YAML text. */
export const parseYamlTree = (text: string): Either.Either<Tree, YamlProblem> =>
  Either.flatMap(
    Either.mapLeft(
      parseYaml(text),
      ({ code, column, line, reason }) => ({ line, column, reason: words[code] ?? reason })
    ),
    treeOf
  )

const treeOf = ({ document, placeAt }: YamlText): Either.Either<Tree, YamlProblem> => {
  const unknownTag = document.warnings.find(({ code }) => code === "TAG_RESOLVE_FAILED")
  if (unknownTag !== undefined) {
    return Either.left({ ...placeAt(unknownTag.pos[0]), reason: words[unknownTag.code] ?? unknownTag.message })
  }
  const targets = aliasesOf(document)
  let parts = 0

  const read = (node: unknown, above: TextPosition, depth: number): Either.Either<Tree, YamlProblem> => {
    const place = isNode(node) && node.range ? placeAt(node.range[0]) : above
    const { line } = place
    if (depth > deepest) return Either.left({ ...place, reason: "this is nested too deeply" })
    parts += 1
    // Nested aliases expand exponentially.
    if (parts > limits.yamlTokens) return Either.left({ ...place, reason: "its aliases stand for too much" })
    if (isAlias(node)) {
      const target = targets.get(node)
      if (target === undefined) return Either.left({ ...place, reason: "a string that starts with * must be quoted" })
      return Either.map(read(target, place, depth + 1), (tree) => ({ ...tree, line }))
    }
    if (isSeq(node)) {
      return Either.map(
        Either.all(node.items.map((item) => read(item, place, depth + 1))),
        (items) => ({ _tag: "List", line, items })
      )
    }
    if (isMap(node)) {
      const entries = node.items.map(({ key, value }): Either.Either<NamedTree, YamlProblem> => {
        const at = isNode(key) && key.range ? placeAt(key.range[0]) : place
        if (!isScalar(key)) return Either.left({ ...at, reason: "a key must be a plain string" })
        return Either.map(read(value, at, depth + 1), (tree) => ({ name: String(key.value), line: at.line, tree }))
      })
      return Either.map(Either.all(entries), (all) => ({ _tag: "Map", line, entries: all }))
    }
    if (!isScalar(node) || node.value === null || node.value === "") return Either.right({ _tag: "Absent", line })
    const { source, value } = node
    return typeof value === "string"
      ? Either.right({ _tag: "Scalar", line, scalar: { value, text: value } })
      : typeof value === "number" || typeof value === "boolean"
      ? Either.right({ _tag: "Scalar", line, scalar: { value, text: source ?? String(value) } })
      : Either.left({ ...place, reason: "this must be a string, a number, or true or false" })
  }

  return read(document.contents, { line: 1, column: 1 }, 0)
}

/** An invalid value and its location. Lines are counted from 1. */
export interface Problem {
  readonly line: number
  readonly column?: number
  readonly setting: string | null
  readonly reason: string
}
/** Decoded value, or all problems. */
export type CheckResult<A> = Either.Either<A, ReadonlyArray<Problem>>

/** Fails a check with one problem. */
export const failCheck = (line: number, setting: string | null, reason: string): CheckResult<never> =>
  Either.left([{ line, setting, reason }])

/** Combines checks: all values, or the problems of all. */
export const combineChecks = <A>(checks: ReadonlyArray<CheckResult<A>>): CheckResult<ReadonlyArray<A>> => {
  const problems = Array.getLefts(checks).flat()
  return problems.length > 0 ? Either.left(problems) : Either.right(Array.getRights(checks))
}

/** The problems of a check. */
export const listProblems = (check: CheckResult<unknown>) =>
  Either.match(check, { onLeft: (all) => all, onRight: () => [] })

/** Fails for an unknown name. `written` is its last part, as written in the file. */
export const failUnknownSetting = (line: number, name: string, written: string, known: ReadonlyArray<string>) =>
  failCheck(line, name, `is not a setting.${suggestNearest(written, known)} Known settings: ${known.join(", ")}`)

const scalarOf = (tree: Tree, setting: string): CheckResult<Scalar> =>
  tree._tag === "Scalar"
    ? Either.right(tree.scalar)
    : failCheck(tree.line, setting, "contains an item that is not a string")

/** Detects references to an environment variable or a file. */
export const hasReferences = (written: UnresolvedValue) =>
  isList(written) ? written.some(({ text }) => hasReference(text)) : hasReference(written.text)

/** Value of one setting, unless it is absent. A value with references is validated when they are resolved. */
export const checkEntry = (
  setting: string,
  decode: Decode<unknown>,
  { line, tree }: NamedTree
): CheckResult<Option.Option<LocatedValue>> =>
  Either.gen(function*() {
    if (tree._tag === "Absent") return Option.none()
    if (tree._tag === "Map") return yield* failCheck(line, setting, "must be one value, not several with names")
    const written = tree._tag === "Scalar"
      ? tree.scalar
      : yield* combineChecks(tree.items.map((item) => scalarOf(item, setting)))
    if (!hasReferences(written)) {
      yield* Either.mapLeft(decodeWritten(decode, written), (reason) => [{ line, setting, reason }])
    }
    return Option.some({ line, written })
  })

/** Resolves the values of one settings file. */
export interface Resolver {
  /** Makes a local path absolute. */
  readonly path: (text: string) => string
  /** Value of a setting with its references resolved. */
  readonly value: <A>(
    setting: string,
    entry: LocatedValue,
    decode: Decode<A>
  ) => Effect.Effect<A, SettingUnresolved | SettingsInvalid>
}

export const makeResolver = (file: string) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const folder = path.dirname(file)
    const services = Context.make(Path.Path, path).pipe(Context.add(LocalFiles, yield* LocalFiles))

    const resolved = (setting: string, scalar: Scalar): Effect.Effect<Scalar, SettingUnresolved> =>
      hasReference(scalar.text)
        ? resolveReferences(scalar.text, folder).pipe(
          Effect.mapBoth({
            onFailure: (reason) => new SettingUnresolved({ file, setting, reason }),
            onSuccess: makeTextScalar
          }),
          Effect.provide(services)
        )
        : Effect.succeed(scalar)

    const resolver: Resolver = {
      path: (text) => toAbsolutePath(path, folder, text),
      value: (setting, { line, written }, decode) =>
        Effect.gen(function*() {
          const whole = isList(written)
            ? yield* Effect.forEach(written, (scalar) => resolved(setting, scalar))
            : yield* resolved(setting, written)
          return yield* Effect.mapError(
            decodeWritten(decode, whole),
            (reason) => new SettingsInvalid({ file, line, setting, reason })
          )
        })
    }
    return resolver
  })
