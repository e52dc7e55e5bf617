import { Effect, Option } from "effect"
import { mostTextBytes, textLimit } from "../../remote/compare/compareCommand.ts"
import type { KeyDifference } from "../../schema/projects/Compare.ts"
import { composeFileNames } from "../../schema/projects/Project.ts"
import { CurrentCaller } from "../../services/access/Caller.ts"
import { maySeeValues } from "../../services/access/rights.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import { redactCompose } from "../projects/compose/redactCompose.ts"
import { compareEnvKeys, computeTextDiff } from "./difference.ts"

const mostTexts = 200

/** Directory for data that a stack writes itself. */
export const dataName = "data"

export const isComposeName = (name: string): boolean => composeFileNames.some((known) => known === name)

/** True for a compose file and its override, whose texts the redaction of compose files can mask. */
const isMaskable = (name: string): boolean => isComposeName(name.replace(/\.override(?=\.ya?ml$)/, ""))

/**
 * True for files below `data`: these are private data of the stack, so only their hashes are compared. Env files there
 * are treated like any other env file.
 * @param isSecret tests for env files
 */
export const isHashedOnly = (name: string, isSecret: (name: string) => boolean): boolean =>
  (name === dataName || name.startsWith(`${dataName}/`)) && !isSecret(name)

/** Names of the files whose texts are read for a diff, limited by the size of each file and by their total size. */
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

/** Difference of two texts of a file; empty if the caller may not see it. */
export interface ShownDifference {
  readonly diff?: string
  readonly keys?: KeyDifference
}

/**
 * Difference of two texts of a file as the caller of the current request may see it: only names of variables for an env
 * file, for viewers only compose files and these without values, and never a secret of the settings.
 */
export const showDifference = Effect.fn("compare.showDifference")(function*(
  name: string,
  from: string,
  to: string,
  isSecret: boolean,
  sides?: readonly [from: string, to: string]
): Effect.fn.Return<ShownDifference, never, Settings> {
  if (isSecret) return { keys: compareEnvKeys(from, to) }
  // Values may stand in any other file: files that a compose file includes, configurations, secrets.
  if (!isMaskable(name) && !maySeeValues((yield* CurrentCaller).role)) return {}
  const [old, now] = isMaskable(name)
    ? [yield* redactCompose(from), yield* redactCompose(to)]
    : [Option.some(from), Option.some(to)]
  // The texts may differ only in values that the caller may not see.
  if (Option.isNone(old) || Option.isNone(now) || old.value === now.value) return {}
  return yield* Option.match(computeTextDiff(name, old.value, now.value, sides), {
    onNone: () => Effect.succeed({}),
    onSome: (text) => Effect.map(scrubSecrets(text), (diff) => ({ diff }))
  })
})
