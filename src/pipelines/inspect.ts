import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import { EnvironmentUnknown } from "../schema/environments.ts"
import type { InspectRequest, LocalProject } from "../schema/projects.ts"
import type { LocalFiles } from "../services/local/LocalFiles.ts"
import { Settings } from "../services/settings/Settings.ts"
import { readPlatformFile } from "./applications/platformFile.ts"
import { readChosenComposeFile } from "./projects/compose.ts"
import { toFileProblem } from "./projects/files.ts"
import { inspectProject, redactProject, resolveServer } from "./projects/projects.ts"
import { type DirectoryRefused, resolveProjectDirectory } from "./projects/trust.ts"

/** Reads the deployable contents of one directory, with every problem in its files. */
export const readProject = Effect.fn("readProject")(function*(
  { environment, projectPath }: InspectRequest
): Effect.fn.Return<LocalProject, DirectoryRefused | EnvironmentUnknown, LocalFiles | Path.Path | Settings> {
  const directory = yield* resolveProjectDirectory(projectPath)
  const project = yield* inspectProject(directory, Option.none(), environment)
  const known = (project.environments ?? []).map(({ name }) => name)
  if (typeof environment === "string" && !known.includes(environment) && project.problems === undefined) {
    return yield* new EnvironmentUnknown({ project: project.name, environment, known })
  }
  const problemsOf = <A, R>(there: boolean, read: Effect.Effect<A, Parameters<typeof toFileProblem>[0], R>) =>
    there
      ? Effect.match(read, { onSuccess: () => [], onFailure: (error) => [toFileProblem(error)] })
      : Effect.succeed([])
  const problems = [
    ...project.problems ?? [],
    ...yield* problemsOf(project.hasComposeFile, readChosenComposeFile(directory, environment)),
    ...yield* problemsOf(project.hasPlatformJson, readPlatformFile(directory))
  ]
  // Unreadable settings do not hide anything of the project.
  const stored = yield* Effect.orElseSucceed((yield* Settings).servers, () => [])
  const resolved = resolveServer(stored)(project)
  return yield* redactProject(problems.length === 0 ? resolved : { ...resolved, problems })
})
