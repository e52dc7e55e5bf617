import { Path } from "@effect/platform"
import { type Duration, Effect, Either, Option } from "effect"
import type { OnUnhealthy, PullPolicy } from "../../schema/deploy/Deploy.ts"
import { containerConfigName, ProjectFileInvalid } from "../../schema/projects/Project.ts"
import { suggestNearest } from "../../schema/words/nearest.ts"
import { quoteInput } from "../../schema/words/quoted.ts"
import type { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { findProjectArchive } from "../archive/findProjectArchive.ts"
import { type Hooks, toHooks } from "../hooks/Hooks.ts"
import { type ComposeFile, readComposeFile } from "../projects/compose/composeFile.ts"
import { type DeployFile, listDeployFiles } from "../projects/deployFiles.ts"
import { readContainerConfig } from "../projects/files/containerConfig.ts"
import { normalizeRelativeName } from "../projects/files/normalizeRelativeName.ts"

/** Desired state of a project on a server, derived from its files alone. */
export interface DeployPlan {
  readonly compose: ComposeFile
  readonly archive: DeployFile | undefined
  readonly files: ReadonlyArray<DeployFile>
  /** Names of the files among them that compose reads: `.env` and each `env_file`. */
  readonly envFiles: ReadonlyArray<string>
  /** Names of all images that the stack runs, without duplicates. */
  readonly images: ReadonlyArray<string>
  /** The project's own health timeout. */
  readonly healthTimeout: Option.Option<Duration.Duration>
  /** Pull policy of `container.json`. */
  readonly pull?: PullPolicy | undefined
  /** `onUnhealthy` of `container.json`. */
  readonly onUnhealthy?: OnUnhealthy | undefined
  /** Services that may have two running containers at once. */
  readonly bridged?: ReadonlyArray<string>
  /** Commands around the deploy. */
  readonly hooks?: Hooks
}

/** Resolves the services that a field names; fails if the compose file does not have one of them. */
const namedServices = (
  directory: string,
  { services }: ComposeFile,
  field: string,
  names: ReadonlyArray<string>
) =>
  Effect.gen(function*() {
    const known = services.map(({ name }) => name)
    const unknown = names.find((name) => !known.includes(name))
    if (unknown === undefined) return names
    const file = (yield* Path.Path).join(directory, containerConfigName)
    const reason = `${field} names the service ${quoteInput(unknown)}, which the compose file does not have.` +
      (suggestNearest(unknown, known) || ` It has: ${known.slice(0, 20).join(", ")}`)
    return yield* new ProjectFileInvalid({ file, reason })
  })

/** Reads everything local that a deploy needs; fails if a file of the project is missing or unusable. */
export const planDeploy = Effect.fn("planDeploy")(function*(
  directory: string
): Effect.fn.Return<DeployPlan, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  const [compose, config] = yield* Effect.all([readComposeFile(directory), readContainerConfig(directory)])
  const files = yield* listDeployFiles(directory, compose, config)
  const archive = Option.getOrUndefined(yield* findProjectArchive(directory, config))
  const bridged = yield* namedServices(directory, compose, "bridged", config.bridged ?? [])
  const hooks = toHooks(config.hooks)
  const hooked = Option.toArray(hooks?.beforeStart ?? Option.none()).map(({ service }) => service)
  yield* namedServices(directory, compose, "hooks.beforeStart", hooked)
  const images = compose.services.flatMap(({ image }) => (image === undefined ? [] : [image]))
  const forCompose = new Set([
    ".env",
    ...compose.services.flatMap((service) => service.envFiles).flatMap((name) =>
      Either.match(normalizeRelativeName(name), { onLeft: () => [], onRight: (clean) => [clean] })
    )
  ])
  return {
    compose,
    archive,
    files: files.filter(({ name }) => name !== archive?.name),
    envFiles: files.map(({ name }) => name).filter((name) => forCompose.has(name)),
    images: [...new Set(images)],
    healthTimeout: Option.fromNullable(config.healthTimeout),
    pull: config.pull ?? undefined,
    onUnhealthy: config.onUnhealthy ?? undefined,
    ...bridged.length === 0 ? {} : { bridged: [...new Set(bridged)] },
    ...hooks === undefined ? {} : { hooks }
  }
})
