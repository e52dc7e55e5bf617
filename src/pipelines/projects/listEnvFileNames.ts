import { Either } from "effect"
import type { EnvFileNames } from "../../remote/activation/activateCommand.ts"
import type { ServerFacts } from "../../remote/deploy/preflightCommand.ts"
import { normalizeRelativeName } from "./files/normalizeRelativeName.ts"

// Limit because the names are arguments of one command.
const mostNames = 100
const longestNames = 16_000

const isOwn = (name: string) =>
  Either.match(normalizeRelativeName(name), {
    onLeft: () => false,
    onRight: (clean) => clean === name && clean !== "data" && !clean.startsWith("data/") && !clean.startsWith(".berth")
  })

/**
 * Env files that the server records, and obsolete ones of an earlier deploy that it removes. A list with more than 100
 * names is ignored.
 */
export const listEnvFileNames = (
  plan: { readonly envFiles: ReadonlyArray<string>; readonly files: ReadonlyArray<{ readonly name: string }> },
  { deployed }: Pick<ServerFacts, "deployed">
): EnvFileNames => {
  const kept = new Set(plan.files.map(({ name }) => name))
  const bounded = (names: ReadonlyArray<string>) =>
    names.length > mostNames || names.join().length > longestNames ? [] : names
  return { brought: bounded(plan.envFiles), gone: bounded(deployed.filter((name) => isOwn(name) && !kept.has(name))) }
}
