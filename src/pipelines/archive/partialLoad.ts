import type { ServerFacts } from "../../remote/deploy/preflightCommand.ts"

/**
 * Way to load an archive without the layers that the server has: under the real names (`direct`), under temporary names
 * with a check for completeness by verifying the platform (`verified`) or by listing the image (`listed`), or not at
 * all.
 */
type PartialLoad = "direct" | "verified" | "listed" | "none"

/** First API whose `docker load --platform` verifies the loaded image, and the engine that introduced it. */
const firstVerifying = { api: 48, engine: 28 }

/** Facts of a server that decide how it loads a part of an archive. */
export type EngineFacts = Pick<ServerFacts, "api" | "containerdStore" | "engine">

/** Decides how a server loads an archive without the layers that it has. */
export const partialLoad = ({ api, containerdStore, engine }: EngineFacts): PartialLoad => {
  if (!containerdStore) return "direct"
  const major = Number.parseInt(engine, 10)
  const minor = /^1\.(\d+)$/.exec(api)?.[1] ?? ""
  if (major >= firstVerifying.engine && Number(minor) >= firstVerifying.api) return "verified"
  // Later engines also list incomplete images.
  return major === 25 || major === 26 ? "listed" : "none"
}
