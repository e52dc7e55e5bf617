import { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import {
  composeFileNames,
  type ContainerConfig,
  containerConfigName,
  imageFileNames,
  type LocalProject,
  lookedForNames,
  platformFileName
} from "../../schema/Project.ts"
import type { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { readContainerConfig } from "./containerConfig.ts"
import { firstNamed, newestTarOf, projectFiles } from "./projectFiles.ts"
import { type SeenFiles } from "./seenFiles.ts"

const named = (text: string | null | undefined): string | null =>
  text === undefined || text === null || text.trim() === "" ? null : text

/** Where a project is deployed to: what its `container.json` says, else `~/containers/<directory name>`. */
export const remotePathOf = (config: ContainerConfig, name: string): string =>
  named(config.remotePath) ?? `~/containers/${name}`

/**
 * What a directory holds that Berth can deploy. A `container.json` that cannot be read names no server.
 * @param seen what `seenFiles` told of it just now
 */
export const inspectProject = Effect.fn("inspectProject")(function*(
  directory: string,
  seen: Option.Option<SeenFiles> = Option.none()
): Effect.fn.Return<LocalProject, LocalFileFailed, LocalFiles | Path.Path> {
  const name = (yield* Path.Path).basename(directory)
  const files = Option.isSome(seen) ? [...seen.value.values()] : yield* projectFiles(directory, lookedForNames)
  const has = (names: ReadonlyArray<string>) => Option.isSome(firstNamed(files, names))
  const configFile = Option.flatMapNullable(seen, (found) => found.get(containerConfigName))
  const config: ContainerConfig = Option.isSome(seen) && Option.isNone(configFile)
    ? {}
    : yield* Effect.catchTag(
      readContainerConfig(directory, Option.getOrUndefined(configFile)),
      "ProjectFileInvalid",
      () => Effect.succeed({})
    )
  const hasImageFile = has(imageFileNames)
  const hasComposeFile = has(composeFileNames)
  const serverId = named(config.serverId)
  const complete = hasImageFile && hasComposeFile && serverId !== null
  const begun = hasImageFile || hasComposeFile || has([containerConfigName])
  return {
    name,
    path: directory,
    hasImageFile,
    hasComposeFile,
    hasPlatformJson: has([platformFileName]),
    containerStatus: complete ? "configured" : begun ? "partial" : "none",
    tarFile: Option.getOrNull(newestTarOf(files)),
    serverId,
    remotePath: remotePathOf(config, name)
  }
})
