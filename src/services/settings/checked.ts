import { Array, Either, Option } from "effect"
import { didYouMean } from "../../schema/nearest.ts"
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
/** What was found, or everything that does not fit. */
export type Checked<A> = Either.Either<A, ReadonlyArray<Problem>>

/** One thing that does not fit. */
export const problem = (line: number, setting: string | null, reason: string): Checked<never> =>
  Either.left([{ line, setting, reason }])

/** What all of several checks found, or the problems of all of them. */
export const allOf = <A>(checks: ReadonlyArray<Checked<A>>): Checked<ReadonlyArray<A>> => {
  const problems = Array.getLefts(checks).flat()
  return problems.length > 0 ? Either.left(problems) : Either.right(Array.getRights(checks))
}

/** What does not fit. */
export const problemsOf = (check: Checked<unknown>) => Either.match(check, { onLeft: (all) => all, onRight: () => [] })

/** A name that is not known. `written` is it as it stands in the file, the last part of the whole name. */
export const unknown = (line: number, name: string, written: string, known: ReadonlyArray<string>) =>
  problem(line, name, `is not a setting.${didYouMean(written, known)} Known settings: ${known.join(", ")}`)

const scalarOf = (tree: Tree, setting: string): Checked<Scalar> =>
  tree._tag === "Scalar"
    ? Either.right(tree.scalar)
    : problem(tree.line, setting, "contains an item that is not a string")

/** Whether a value names an environment variable or a file. */
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
