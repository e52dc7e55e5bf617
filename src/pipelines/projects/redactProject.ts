import { Effect } from "effect"
import type { LocalProject } from "../../schema/projects/Project.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"

/** Project as shown to callers, without secrets: a reason may quote a field name from the file. */
export const redactProject = ({ problems = [], ...project }: LocalProject) =>
  Effect.map(
    Effect.forEach(
      problems,
      (problem) => Effect.map(scrubSecrets(problem.reason), (reason) => ({ ...problem, reason }))
    ),
    (shown): LocalProject => shown.length === 0 ? project : { ...project, problems: shown }
  )
