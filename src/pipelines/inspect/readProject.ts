import type { Path } from "@effect/platform"
import { Effect } from "effect"
import type { InspectRequest, LocalProject } from "../../schema/projects/Project.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { readPlatformFile } from "../applications/platformFile.ts"
import { readComposeFile } from "../projects/compose/composeFile.ts"
import { type DirectoryRefused, resolveProjectDirectory } from "../projects/files/resolveProjectDirectory.ts"
import { toFileProblem } from "../projects/files/toFileProblem.ts"
import { inspectProject } from "../projects/inspectProject.ts"
import { redactProject } from "../projects/redactProject.ts"
import { resolveServer } from "../projects/resolveServer.ts"

/** Reads the deployable contents of one directory, with every problem in its files. */
export const readProject = Effect.fn("readProject")(function*(
  { projectPath }: InspectRequest
): Effect.fn.Return<LocalProject, DirectoryRefused, LocalFiles | Path.Path | Settings> {
  const directory = yield* resolveProjectDirectory(projectPath)
  const project = yield* inspectProject(directory)
  const problemsOf = <A, R>(there: boolean, read: Effect.Effect<A, Parameters<typeof toFileProblem>[0], R>) =>
    there
      ? Effect.match(read, { onSuccess: () => [], onFailure: (error) => [toFileProblem(error)] })
      : Effect.succeed([])
  const problems = [
    ...project.problems ?? [],
    ...yield* problemsOf(project.hasComposeFile, readComposeFile(directory)),
    ...yield* problemsOf(project.hasPlatformJson, readPlatformFile(directory))
  ]
  // Unreadable settings do not hide anything of the project.
  const stored = yield* Effect.orElseSucceed((yield* Settings).servers, () => [])
  const resolved = resolveServer(stored)(project)
  return yield* redactProject(problems.length === 0 ? resolved : { ...resolved, problems })
})
