import type { ServerFacts } from "../../remote/deploy/preflightCommand.ts"

/**
 * Way to load an archive without the layers that the server has: under the real names (`direct`); under others, and then
 * proves that it lacks nothing by verifying the platform (`verified`) or by listing the image (`listed`); or not at all.
 */
type PartialLoad = "direct" | "verified" | "listed" | "none"

/** The first API whose `docker load --platform` verifies what it loads, and the engine that came with it. */
const firstVerifying = { api: 48, engine: 28 }

/** Facts of a server that decide how it loads a part of an archive. */
export type EngineFacts = Pick<ServerFacts, "api" | "containerdStore" | "engine">

/** Decides how a server loads an archive without the layers that it has. */
export const partialLoad = ({ api, containerdStore, engine }: EngineFacts): PartialLoad => {
  if (!containerdStore) return "direct"
  const major = Number.parseInt(engine, 10)
  const minor = /^1\.(\d+)$/.exec(api)?.[1] ?? ""
  if (major >= firstVerifying.engine && Number(minor) >= firstVerifying.api) return "verified"
  // Later engines list images that lack layers, too.
  return major === 25 || major === 26 ? "listed" : "none"
}
