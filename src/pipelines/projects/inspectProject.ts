import { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import {
  composeFileNames,
  type ContainerConfig,
  containerConfigName,
  type FileProblem,
  imageFileNames,
  type LocalProject,
  platformFileName,
  projectFileNames,
  type ProjectTarget
} from "../../schema/projects/Project.ts"
import type { LocalEntry, LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { readContainerConfig } from "./files/containerConfig.ts"
import { type ListedFiles } from "./files/listProjectFiles.ts"
import { findFirstNamed, findNewestTar, findProjectFiles } from "./files/projectFiles.ts"
import { toFileProblem } from "./files/toFileProblem.ts"

const named = (text: string | null | undefined): string | null =>
  text === undefined || text === null || text.trim() === "" ? null : text

/** Remote path of a project: from its `container.json`, else `~/containers/<directory name>`. */
export const resolveRemotePath = (config: ContainerConfig, name: string): string =>
  named(config.remotePath) ?? `~/containers/${name}`

/** Targets in `container.json`, in order; empty if it has none. */
export const listDeclaredTargets = ({ targets }: ContainerConfig, name: string): ReadonlyArray<ProjectTarget> =>
  (targets ?? []).map(({ remotePath, server }) => ({
    serverId: server,
    remotePath: resolveRemotePath({ remotePath }, name)
  }))

/** Places that a project is deployed to, in their order. */
export const listDeployPlaces = (
  { remotePath, serverId, targets }: Pick<LocalProject, "remotePath" | "serverId" | "targets">
): ReadonlyArray<ProjectTarget> => targets ?? (serverId === null ? [] : [{ serverId, remotePath }])

interface Configured {
  readonly config: ContainerConfig
  readonly problems: ReadonlyArray<FileProblem>
}

const configured = (directory: string, seen: LocalEntry | undefined) =>
  Effect.match(readContainerConfig(directory, seen), {
    onSuccess: (config): Configured => ({ config, problems: [] }),
    onFailure: (error): Configured => ({ config: {}, problems: [toFileProblem(error)] })
  })

/**
 * Lists the deployable contents of a directory. An unreadable `container.json` names no server and is listed among the
 * problems.
 * @param seen its files, as just returned by `listProjectFiles`
 */
export const inspectProject = Effect.fn("inspectProject")(function*(
  directory: string,
  seen: Option.Option<ListedFiles> = Option.none()
): Effect.fn.Return<LocalProject, LocalFileFailed, LocalFiles | Path.Path> {
  const name = (yield* Path.Path).basename(directory)
  const files = Option.isSome(seen) ? [...seen.value.values()] : yield* findProjectFiles(directory, projectFileNames)
  const has = (names: ReadonlyArray<string>) => Option.isSome(findFirstNamed(files, names))
  const configFile = Option.flatMapNullable(seen, (found) => found.get(containerConfigName))
  const { config, problems }: Configured = Option.isSome(seen) && Option.isNone(configFile)
    ? { config: {}, problems: [] }
    : yield* configured(directory, Option.getOrUndefined(configFile))
  const hasImageFile = has(imageFileNames)
  const hasComposeFile = has(composeFileNames)
  const targets = listDeclaredTargets(config, name)
  const serverId = targets[0]?.serverId ?? named(config.serverId)
  const complete = hasImageFile && hasComposeFile && serverId !== null
  const begun = hasImageFile || hasComposeFile || has([containerConfigName])
  return {
    name,
    path: directory,
    hasImageFile,
    hasComposeFile,
    hasPlatformJson: has([platformFileName]),
    containerStatus: complete ? "configured" : begun ? "partial" : "none",
    tarFile: Option.getOrNull(findNewestTar(files)),
    serverId,
    remotePath: targets[0]?.remotePath ?? resolveRemotePath(config, name),
    ...targets.length === 0 ? {} : { targets },
    ...problems.length === 0 ? {} : { problems }
  }
})
