import { Array, Duration, Option } from "effect"
import type { ReleaseManifest } from "../../remote/activation/releaseManifest.ts"
import type { DeployPlan } from "./planDeploy.ts"

// Releases share larger files, and all files if there are more than this number.
const mostCopied = 1_000
const largestCopied = 64 * 1024

/** Manifest of the release that a deploy of this plan records on the server. */
export const buildReleaseManifest = (
  { bridged = [], compose, envFiles, files, healthTimeout }: Pick<
    DeployPlan,
    "bridged" | "compose" | "envFiles" | "files" | "healthTimeout"
  >,
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
    bridged,
    envFiles: envFiles.filter((name) => name !== compose.fileName),
    files: small.map(({ name }) => name),
    largeFiles: large.map(({ name }) => name)
  }
}
