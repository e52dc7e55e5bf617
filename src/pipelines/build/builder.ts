import { Path } from "@effect/platform"
import { Array, Effect, Option } from "effect"
import { type ContainerConfig, containerConfigName, ProjectFileInvalid } from "../../schema/projects.ts"
import type { ServerAccess } from "../../schema/servers.ts"
import type { SettingsError } from "../../schema/settings.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { listConfiguredPlaces } from "../projects/environments.ts"

/** Server whose Docker builds the images of a project. */
export interface ServerBuilder {
  readonly server: ServerAccess
  /** True if the images stay there, since the project is deployed to this server alone. */
  readonly keeps: boolean
}

type Placed = Pick<ContainerConfig, "build" | "serverId" | "targets">

/**
 * Finds the servers that build the images of a project, as `build.at` of its `container.json` says; empty if they are
 * built with the Docker of this machine. There are several for several targets that each build for themselves.
 * @param target server of the deploy; those that `container.json` names if it is not for a deploy
 */
export const findServerBuilders = Effect.fn("build.findServerBuilders")(function*(
  directory: string,
  config: Placed,
  target?: ServerAccess
): Effect.fn.Return<ReadonlyArray<ServerBuilder>, ProjectFileInvalid | SettingsError, Path.Path | Settings> {
  const at = config.build?.at ?? "here"
  if (at === "here") return []
  const path = yield* Path.Path
  const refuse = (reason: string) =>
    new ProjectFileInvalid({ file: path.join(directory, containerConfigName), reason: `build.at ${reason}` })
  const names = [...new Set(listConfiguredPlaces(config, path.basename(directory)).map(({ serverId }) => serverId))]
  const settings = yield* Settings
  const findServer = (idOrName: string, words: string) =>
    settings.server(idOrName).pipe(
      Effect.catchTags({
        ServerAmbiguous: ({ message }) => refuse(`${words}: ${message}`),
        ServerNotFound: ({ message }) => refuse(`${words}: ${message}`)
      })
    )
  if (at === "target") {
    const targets = target === undefined
      ? yield* Effect.forEach(names, (name) => findServer(name, "is \"target\", and that is not a server"))
      : [target]
    if (targets.length === 0) {
      return yield* refuse(
        `is "target", and ${containerConfigName} names no server: name it there (serverId), or build with the deploy ` +
          "(berth deploy --build)"
      )
    }
    return Array.dedupeWith(targets, (one, other) => one.id === other.id).map((server) => ({ server, keeps: true }))
  }
  const server = yield* findServer(at, "must be \"here\", \"target\" or a server")
  const places = yield* Effect.forEach(names, (name) => Effect.option(settings.server(name)))
  const all = target === undefined ? places : [...places, Option.some(target)]
  return [{ server, keeps: all.length > 0 && all.every(Option.exists(({ id }) => id === server.id)) }]
})
