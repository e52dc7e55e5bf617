import type { Path } from "@effect/platform"
import { Effect } from "effect"
import type { InspectRequest, LocalProject, PathOutside, ProjectPathInvalid } from "../../schema/Project.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { readPlatformFile } from "../applications/platformFile.ts"
import { readComposeFile } from "../projects/composeFile.ts"
import { fileProblem } from "../projects/fileProblem.ts"
import { inspectProject } from "../projects/inspectProject.ts"
import { projectDirectory } from "../projects/projectDirectory.ts"
import { resolveServer } from "../projects/resolveServer.ts"
import { shownProject } from "../projects/shownProject.ts"

/** What one directory holds that Berth can deploy, with everything in its files that keeps it from that. */
export const readProject = Effect.fn("readProject")(function*(
  { projectPath }: InspectRequest
): Effect.fn.Return<
  LocalProject,
  LocalFileFailed | PathOutside | ProjectPathInvalid | SettingsError,
  LocalFiles | Path.Path | Settings
> {
  const directory = yield* projectDirectory(projectPath)
  const project = yield* inspectProject(directory)
  const problemsOf = <A, R>(there: boolean, read: Effect.Effect<A, Parameters<typeof fileProblem>[0], R>) =>
    there
      ? Effect.match(read, { onSuccess: () => [], onFailure: (error) => [fileProblem(error)] })
      : Effect.succeed([])
  const problems = [
    ...project.problems ?? [],
    ...yield* problemsOf(project.hasComposeFile, readComposeFile(directory)),
    ...yield* problemsOf(project.hasPlatformJson, readPlatformFile(directory))
  ]
  // Settings that cannot be read hide nothing of the project.
  const stored = yield* Effect.orElseSucceed((yield* Settings).servers, () => [])
  const resolved = resolveServer(stored)(project)
  return yield* shownProject(problems.length === 0 ? resolved : { ...resolved, problems })
})
