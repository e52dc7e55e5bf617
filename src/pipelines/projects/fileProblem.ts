import type { FileProblem, ProjectFileInvalid } from "../../schema/Project.ts"
import type { LocalFileFailed } from "../../services/local/LocalFiles.ts"

/** Why a file of a project could not be read, and where in it. */
export const fileProblem = (error: LocalFileFailed | ProjectFileInvalid): FileProblem =>
  error._tag === "ProjectFileInvalid"
    ? error.problem
    : { file: error.path, line: null, column: null, reason: error.reason }
