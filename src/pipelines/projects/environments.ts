import { Path } from "@effect/platform"
import { Effect, Either, Predicate, Struct } from "effect"
import { EnvironmentRequired, EnvironmentUnknown } from "../../schema/environments.ts"
import type { ContainerConfig, EnvironmentConfig, ProjectEnvironment, ProjectTarget } from "../../schema/projects.ts"
import { readContainerConfig } from "./files.ts"

/** `container.json` as it holds for an environment, or without one. */
export type EffectiveConfig = Omit<ContainerConfig, "environments" | "requireEnvironment">

const named = (text: string | null | undefined): string | null =>
  text === undefined || text === null || text.trim() === "" ? null : text

/** Remote path of a project: from its `container.json`, else `~/containers/<directory name>`. */
export const resolveRemotePath = (config: Pick<ContainerConfig, "remotePath">, name: string): string =>
  named(config.remotePath) ?? `~/containers/${name}`

/** Targets in `container.json`, in order; empty if it has none. */
export const listDeclaredTargets = (
  { targets }: Pick<ContainerConfig, "targets">,
  name: string
): ReadonlyArray<ProjectTarget> =>
  (targets ?? []).map(({ remotePath, server }) => ({
    serverId: server,
    remotePath: resolveRemotePath({ remotePath }, name)
  }))

/** Places that `container.json` names for an environment, or without one; empty if it names no server. */
export const listConfiguredPlaces = (config: EffectiveConfig, name: string): ReadonlyArray<ProjectTarget> => {
  const targets = listDeclaredTargets(config, name)
  const serverId = named(config.serverId)
  if (targets.length > 0) return targets
  return serverId === null ? [] : [{ serverId, remotePath: resolveRemotePath(config, name) }]
}

const places = (config: ContainerConfig, own: EnvironmentConfig) => {
  if (Predicate.isNotNullable(own.targets)) return { serverId: undefined, remotePath: undefined }
  const remotePath = own.remotePath ?? config.remotePath
  return Predicate.isNotNullable(own.server)
    ? { serverId: own.server, remotePath, targets: undefined }
    : { remotePath }
}

const withoutAbsent = <A extends object>(all: A): Partial<A> => {
  const kept: Partial<A> = {}
  for (const key of Struct.keys(all)) if (Predicate.isNotNullable(all[key])) kept[key] = all[key]
  return kept
}

/** Puts what an environment has for itself in place of what the file says. */
const applyEnvironment = (config: ContainerConfig, own: EnvironmentConfig): EffectiveConfig => ({
  ...Struct.omit(config, "environments", "requireEnvironment"),
  ...withoutAbsent(Struct.omit(own, "server", "remotePath", "protected")),
  ...places(config, own)
})

/** Environments of `container.json`, in their order. */
const entries = ({ environments }: ContainerConfig) => Object.entries(environments ?? {})

/**
 * Resolves what `container.json` says for an environment: its own parts, and those of the file where it has none. Every
 * door and step takes its configuration from here.
 */
export const resolveEnvironment = (
  config: ContainerConfig,
  environment: string | null | undefined,
  project: string
): Either.Either<EffectiveConfig, EnvironmentRequired | EnvironmentUnknown> => {
  const all = entries(config)
  const known = all.map(([name]) => name)
  if (environment === undefined || environment === null) {
    return config.requireEnvironment === true
      ? Either.left(new EnvironmentRequired({ project, known }))
      : Either.right(Struct.omit(config, "environments", "requireEnvironment"))
  }
  const [, own] = all.find(([name]) => name === environment) ?? []
  return own === undefined
    ? Either.left(new EnvironmentUnknown({ project, environment, known }))
    : Either.right(applyEnvironment(config, own))
}

/** Reads what a project's `container.json` says for an environment, or without one. */
export const readProjectConfig = Effect.fn("readProjectConfig")(function*(
  directory: string,
  environment: string | null | undefined
) {
  const config = yield* readContainerConfig(directory)
  return yield* resolveEnvironment(config, environment, (yield* Path.Path).basename(directory))
})

/** Environments of a project with their places, in the order of `container.json`. */
export const listEnvironments = (config: ContainerConfig, project: string): ReadonlyArray<ProjectEnvironment> =>
  entries(config).map(([name, own]) => ({
    name,
    targets: listConfiguredPlaces(applyEnvironment(config, own), project),
    ...own.protected === true ? { protected: true } : {}
  }))

/**
 * Configurations that the requests of a project may take: that of the file unless it requires an environment, and those
 * of its environments by name.
 */
export const listVariants = (
  config: ContainerConfig
): ReadonlyArray<{ readonly environment: string | null; readonly config: EffectiveConfig }> => [
  ...config.requireEnvironment === true
    ? []
    : [{ environment: null, config: Struct.omit(config, "environments", "requireEnvironment") }],
  ...entries(config).map(([environment, own]) => ({ environment, config: applyEnvironment(config, own) }))
]
