import { Effect, Option } from "effect"
import { Berth } from "../../client/Berth.ts"
import { listRemedies, type Remedy, remedyWords } from "../../schema/runs/listRemedies.ts"
import type { Run } from "../../schema/runs/Run.ts"
import { suggestCommand } from "../connection/withService.ts"
import { quoteShellWord } from "../terminal/quoteShellWord.ts"

/** Options that locate the stack of a run; empty if the project's container.json names the same location. */
const locationOptions = ({ projectPath, remotePath, serverId }: Run["subject"]) =>
  Effect.gen(function*() {
    if (serverId === undefined || remotePath === undefined) return ""
    const options = ` --server ${quoteShellWord(serverId)} --path ${quoteShellWord(remotePath)}`
    if (projectPath === undefined) return options
    const { use } = yield* Berth
    const project = yield* Effect.option(use((api) => api.inspectProject({ payload: { projectPath } })))
    const isDeclared = Option.exists(
      project,
      (declared) =>
        declared.targets === undefined && declared.serverId === serverId && declared.remotePath === remotePath
    )
    return isDeclared ? "" : options
  })

const names = { log: "logs", releases: "rollback", changes: "diff", again: "deploy" } as const
/** Remedies that need the files of the project; the others need only the server. */
const needsProject: ReadonlySet<Remedy> = new Set(["changes", "again"])

const commandFor = (remedy: Remedy, { projectPath, serverId }: Run["subject"], place: string): string | undefined => {
  if (remedy === "server") return serverId === undefined ? undefined : `berth server test ${quoteShellWord(serverId)}`
  if (projectPath === undefined && (needsProject.has(remedy) || place === "")) return undefined
  return `berth ${names[remedy]}${projectPath === undefined ? "" : ` ${quoteShellWord(projectPath)}`}${place}`
}

/** Formats the commands that fix an unsuccessful run. */
export const suggestRemedyCommands = (run: Run): Effect.Effect<ReadonlyArray<string>, never, Berth> =>
  Effect.gen(function*() {
    const remedies = listRemedies(run)
    if (remedies.length === 0) return []
    const place = yield* locationOptions(run.subject)
    const lines = yield* Effect.forEach(remedies, (remedy) => {
      const command = commandFor(remedy, run.subject, place)
      return command === undefined
        ? Effect.succeed([])
        : Effect.map(suggestCommand(command), (suggested) => [`  ${remedyWords[remedy]}: ${suggested}`])
    })
    return lines.flat()
  })
