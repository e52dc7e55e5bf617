import type { FileProblem, ProjectFileInvalid } from "../../../schema/projects/Project.ts"
import type { LocalFileFailed } from "../../../services/local/LocalFiles.ts"

/** Reason and position of an error in a project's file. */
export const toFileProblem = (error: LocalFileFailed | ProjectFileInvalid): FileProblem =>
  error._tag === "ProjectFileInvalid"
    ? error.problem
    : { file: error.path, line: null, column: null, reason: error.reason }
