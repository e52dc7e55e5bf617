import { Effect, Option } from "effect"
import { mostTextBytes, textLimit } from "../../remote/compare/compareCommand.ts"
import type { KeyDifference } from "../../schema/projects/Compare.ts"
import { composeFileNames } from "../../schema/projects/Project.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import { redactCompose } from "../projects/compose/redactCompose.ts"
import { compareEnvKeys, computeTextDiff } from "./difference.ts"

const mostTexts = 200

/** Directory of what a stack writes itself. */
export const dataName = "data"

export const isComposeName = (name: string): boolean => composeFileNames.some((known) => known === name)

/**
 * Files below `data` are what a stack has written, which is nobody's to see: hashes of them are compared and no more. An
 * env file there is one like any other.
 * @param isSecret tests for env files
 */
export const isHashedOnly = (name: string, isSecret: (name: string) => boolean): boolean =>
  (name === dataName || name.startsWith(`${dataName}/`)) && !isSecret(name)

/** Names of the files whose texts are read for a diff: as many as are small enough, one by one and together. */
export const listReadableTexts = (
  files: ReadonlyArray<{ readonly name: string; readonly size: number }>
): ReadonlyArray<string> => {
  let bytes = 0
  return files.filter(({ size }) => {
    if (size > textLimit || bytes + size > mostTextBytes) return false
    bytes += size
    return true
  }).slice(0, mostTexts).map(({ name }) => name)
}

/** Difference of two texts of a file; empty where the caller may not see what differs. */
export interface ShownDifference {
  readonly diff?: string
  readonly keys?: KeyDifference
}

/**
 * Difference of two texts of a file as the caller of the current request may see it: of an env file only names of
 * variables, of a compose file without values for viewers, and never a secret of the settings.
 */
export const showDifference = Effect.fn("compare.showDifference")(function*(
  name: string,
  from: string,
  to: string,
  isSecret: boolean,
  sides?: readonly [from: string, to: string]
): Effect.fn.Return<ShownDifference, never, Settings> {
  if (isSecret) return { keys: compareEnvKeys(from, to) }
  const [old, now] = isComposeName(name)
    ? [yield* redactCompose(from), yield* redactCompose(to)]
    : [Option.some(from), Option.some(to)]
  // The only difference may be in values that the caller may not see.
  if (Option.isNone(old) || Option.isNone(now) || old.value === now.value) return {}
  return yield* Option.match(computeTextDiff(name, old.value, now.value, sides), {
    onNone: () => Effect.succeed({}),
    onSome: (text) => Effect.map(scrubSecrets(text), (diff) => ({ diff }))
  })
})
