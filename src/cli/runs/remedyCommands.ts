import { Effect } from "effect"
import { remediesOf, type Remedy, remedyWords } from "../../schema/runs/remediesOf.ts"
import type { Run } from "../../schema/runs/Run.ts"
import { suggestCommand } from "../connection/withService.ts"
import { shellWord } from "../terminal/shellWord.ts"

const commandFor = (remedy: Remedy, { projectPath, serverId }: Run["subject"]): string | undefined => {
  if (remedy === "server") return serverId === undefined ? undefined : `berth server test ${shellWord(serverId)}`
  if (projectPath === undefined) return undefined
  const name = { log: "logs", releases: "rollback", changes: "diff", again: "deploy" }[remedy]
  return `berth ${name} ${shellWord(projectPath)}`
}

/** Lines with the commands that mend a run that did not succeed. */
export const remedyCommands = (run: Run) =>
  Effect.forEach(remediesOf(run), (remedy) => {
    const command = commandFor(remedy, run.subject)
    return command === undefined
      ? Effect.succeed([])
      : Effect.map(suggestCommand(command), (suggested) => [`  ${remedyWords[remedy]}: ${suggested}`])
  }).pipe(Effect.map((lines) => lines.flat()))
