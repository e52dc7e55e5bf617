import { Effect } from "effect"
import type { LocalProject } from "../../schema/projects/Project.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"

/** A project as callers are shown it: a reason may quote the name of a field, which anybody may have written. */
export const redactProject = ({ problems = [], ...project }: LocalProject) =>
  Effect.map(
    Effect.forEach(
      problems,
      (problem) => Effect.map(scrubSecrets(problem.reason), (reason) => ({ ...problem, reason }))
    ),
    (shown): LocalProject => shown.length === 0 ? project : { ...project, problems: shown }
  )
