import { Either } from "effect"
import type { EnvFileNames } from "../../remote/activation/activateCommand.ts"
import type { ServerFacts } from "../../remote/deploy/preflightCommand.ts"
import { normalizeRelativeName } from "./files/normalizeRelativeName.ts"

// The names travel as arguments of one command, which have their limits.
const mostNames = 100
const longestNames = 16_000

const isOwn = (name: string) =>
  Either.match(normalizeRelativeName(name), {
    onLeft: () => false,
    onRight: (clean) => clean === name && clean !== "data" && !clean.startsWith("data/") && !clean.startsWith(".berth")
  })

/**
 * Env files that the server records, and those that it removes because an earlier deploy brought them and the project has
 * them no longer. Above 100 names, none is recorded or removed.
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
