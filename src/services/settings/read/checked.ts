import { Array, Either, Option } from "effect"
import { suggestNearest } from "../../../schema/words/nearest.ts"
import type { NamedTree, Tree } from "./parseYamlTree.ts"
import { hasReference } from "./reference.ts"
import {
  type Decode,
  decodeWritten,
  isList,
  type LocatedValue,
  type Scalar,
  type UnresolvedValue
} from "./settingValue.ts"

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
