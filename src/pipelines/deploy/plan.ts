import type { Path } from "@effect/platform"
import { type Duration, Effect, Either, Option } from "effect"
import type { OnUnhealthy, PullPolicy } from "../../schema/Deploy.ts"
import type { ProjectFileInvalid } from "../../schema/Project.ts"
import type { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { type ComposeFile, readComposeFile } from "../projects/composeFile.ts"
import { readContainerConfig } from "../projects/containerConfig.ts"
import { relativeName } from "../projects/relativeName.ts"
import { type DeployFile, deployFiles } from "./deployFiles.ts"
import { projectArchive } from "./projectArchive.ts"

/** What a project wants on a server, read from its files alone. */
export interface DeployPlan {
  readonly compose: ComposeFile
  readonly archive: DeployFile | undefined
  readonly files: ReadonlyArray<DeployFile>
  /** The names of those among them that are there for compose: `.env` and each `env_file`. */
  readonly envFiles: ReadonlyArray<string>
  /** The names of all images that the stack runs, each once. */
  readonly images: ReadonlyArray<string>
  /** The project's own health time-out. */
  readonly healthTimeout: Option.Option<Duration.Duration>
  /** What the project says of pulling images. */
  readonly pull?: PullPolicy | undefined
  /** What the project wants to become of a version that does not get healthy. */
  readonly onUnhealthy?: OnUnhealthy | undefined
}

/** Reads everything local that a deploy needs; fails where a file of the project is missing or cannot be used. */
export const planDeploy = Effect.fn("planDeploy")(function*(
  directory: string
): Effect.fn.Return<DeployPlan, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  const [compose, config] = yield* Effect.all([readComposeFile(directory), readContainerConfig(directory)])
  const files = yield* deployFiles(directory, compose, config)
  const archive = Option.getOrUndefined(yield* projectArchive(directory, config))
  const images = compose.services.flatMap(({ image }) => (image === undefined ? [] : [image]))
  const forCompose = new Set([
    ".env",
    ...compose.services.flatMap((service) => service.envFiles).flatMap((name) =>
      Either.match(relativeName(name), { onLeft: () => [], onRight: (clean) => [clean] })
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
    onUnhealthy: config.onUnhealthy ?? undefined
  }
})
