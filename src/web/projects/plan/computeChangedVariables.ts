import type { ChangedVariables } from "../../../schema/deploy/ChangedFile.ts"
import type { KeyDifference } from "../../../schema/projects/Compare.ts"

/** Variables that a deploy would add, change and remove on the server. */
export const computeChangedVariables = ({ different, localOnly, remoteOnly }: KeyDifference): ChangedVariables => ({
  added: localOnly,
  changed: different,
  removed: remoteOnly
})
