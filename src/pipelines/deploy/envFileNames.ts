import { Either } from "effect"
import { relativeName } from "../projects/relativeName.ts"
import type { EnvFileNames } from "../remote/activate.ts"
import type { ServerFacts } from "../remote/deployPreflight.ts"

// The names travel as arguments of one command, which have their limits.
const mostNames = 100
const longestNames = 16_000

const isOwn = (name: string) =>
  Either.match(relativeName(name), {
    onLeft: () => false,
    onRight: (clean) => clean === name && clean !== "data" && !clean.startsWith("data/") && !clean.startsWith(".berth")
  })

/**
 * Which env files the server is to note, and which it is to remove: what an earlier deploy brought and the project has
 * no longer. Of more than a hundred none is noted, and none removed.
 */
export const envFileNames = (
  plan: { readonly envFiles: ReadonlyArray<string>; readonly files: ReadonlyArray<{ readonly name: string }> },
  { deployed }: Pick<ServerFacts, "deployed">
): EnvFileNames => {
  const kept = new Set(plan.files.map(({ name }) => name))
  const bounded = (names: ReadonlyArray<string>) =>
    names.length > mostNames || names.join().length > longestNames ? [] : names
  return { brought: bounded(plan.envFiles), gone: bounded(deployed.filter((name) => isOwn(name) && !kept.has(name))) }
}
