import { Array, Either, Option } from "effect"
import { didYouMean } from "../../../schema/words/nearest.ts"
import { hasReference } from "./reference.ts"
import { type Decode, decodeWritten, type Entry, isList, type Scalar, type Written } from "./settingValue.ts"
import type { NamedTree, Tree } from "./yamlTree.ts"

/** Something that does not fit, and where. Lines count from 1. */
export interface Problem {
  readonly line: number
  readonly column?: number
  readonly setting: string | null
  readonly reason: string
}
/** Decoded value, or all problems. */
export type Checked<A> = Either.Either<A, ReadonlyArray<Problem>>

/** Fails a check with one problem. */
export const problem = (line: number, setting: string | null, reason: string): Checked<never> =>
  Either.left([{ line, setting, reason }])

/** Combines checks: all values, or the problems of all. */
export const allOf = <A>(checks: ReadonlyArray<Checked<A>>): Checked<ReadonlyArray<A>> => {
  const problems = Array.getLefts(checks).flat()
  return problems.length > 0 ? Either.left(problems) : Either.right(Array.getRights(checks))
}

/** The problems of a check. */
export const problemsOf = (check: Checked<unknown>) => Either.match(check, { onLeft: (all) => all, onRight: () => [] })

/** Fails for an unknown name. `written` is its last part, as the file has it. */
export const unknown = (line: number, name: string, written: string, known: ReadonlyArray<string>) =>
  problem(line, name, `is not a setting.${didYouMean(written, known)} Known settings: ${known.join(", ")}`)

const scalarOf = (tree: Tree, setting: string): Checked<Scalar> =>
  tree._tag === "Scalar"
    ? Either.right(tree.scalar)
    : problem(tree.line, setting, "contains an item that is not a string")

/** Detects references to an environment variable or a file. */
export const hasReferences = (written: Written) =>
  isList(written) ? written.some(({ text }) => hasReference(text)) : hasReference(written.text)

/** The value of one setting, unless it is absent. What holds a reference is checked when that is resolved. */
export const entryOf = (
  setting: string,
  decode: Decode<unknown>,
  { line, tree }: NamedTree
): Checked<Option.Option<Entry>> =>
  Either.gen(function*() {
    if (tree._tag === "Absent") return Option.none()
    if (tree._tag === "Map") return yield* problem(line, setting, "must be one value, not several with names")
    const written = tree._tag === "Scalar"
      ? tree.scalar
      : yield* allOf(tree.items.map((item) => scalarOf(item, setting)))
    if (!hasReferences(written)) {
      yield* Either.mapLeft(decodeWritten(decode, written), (reason) => [{ line, setting, reason }])
    }
    return Option.some({ line, written })
  })
