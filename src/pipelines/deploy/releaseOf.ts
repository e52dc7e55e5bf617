import { Array, Duration, Option } from "effect"
import type { ReleaseManifest } from "../remote/releaseManifest.ts"
import type { DeployPlan } from "./plan.ts"

// Releases share what is larger, and everything where there are very many files.
const mostCopied = 1_000
const largestCopied = 64 * 1024

/** What a deploy of this plan leaves on the server as a release. */
export const releaseOf = (
  { compose, envFiles, files, healthTimeout }: Pick<DeployPlan, "compose" | "envFiles" | "files" | "healthTimeout">,
  by: string
): ReleaseManifest => {
  const forCompose = new Set([compose.fileName, ...envFiles])
  const others = files.filter(({ name }) => !forCompose.has(name))
  const [small, large] = Array.partition(others, ({ size }) => others.length > mostCopied || size > largestCopied)
  return {
    by,
    composeFile: compose.fileName,
    healthMillis: Option.map(healthTimeout, Duration.toMillis),
    services: compose.services,
    envFiles: envFiles.filter((name) => name !== compose.fileName),
    files: small.map(({ name }) => name),
    largeFiles: large.map(({ name }) => name)
  }
}
