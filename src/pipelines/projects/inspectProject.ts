import { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import {
  composeFileNames,
  type ContainerConfig,
  containerConfigName,
  imageFileNames,
  type LocalProject,
  platformFileName
} from "../../schema/Project.ts"
import type { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { readContainerConfig } from "./containerConfig.ts"
import { firstNamed, newestTarOf, projectFiles } from "./projectFiles.ts"

const named = (text: string | null | undefined): string | null =>
  text === undefined || text === null || text.trim() === "" ? null : text

const lookedFor = [...imageFileNames, ...composeFileNames, platformFileName, containerConfigName]

/** Where a project is deployed to: what its `container.json` says, else `~/containers/<directory name>`. */
export const remotePathOf = (config: ContainerConfig, name: string): string =>
  named(config.remotePath) ?? `~/containers/${name}`

/** What a directory holds that Berth can deploy. A `container.json` that cannot be read names no server. */
export const inspectProject = Effect.fn("inspectProject")(function*(
  directory: string
): Effect.fn.Return<LocalProject, LocalFileFailed, LocalFiles | Path.Path> {
  const name = (yield* Path.Path).basename(directory)
  const files = yield* projectFiles(directory, lookedFor)
  const has = (names: ReadonlyArray<string>) => Option.isSome(firstNamed(files, names))
  const config: ContainerConfig = yield* Effect.catchTag(
    readContainerConfig(directory),
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
