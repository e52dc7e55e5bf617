import { Effect } from "effect"
import { endExecCommand, execCommand } from "../../remote/exec/execCommand.ts"
import type { RequestedBy } from "../../schema/runs/Run.ts"
import { type ExecOpened, ExecRefused, type ExecRequest } from "../../schema/servers/Exec.ts"
import { quoteInput } from "../../schema/words/quoted.ts"
import { mayExec } from "../../services/access/rights.ts"
import { Execs, markLength, type OpenExec } from "../../services/exec/Execs.ts"
import { RunRecords } from "../../services/runs/RunRecords.ts"
import { scrubText } from "../../services/secrets/scrubText.ts"
import { secretsInUse } from "../../services/secrets/secretsInUse.ts"
import { renderCommand } from "../../services/ssh/remoteShell.ts"
import { resolveStack } from "../servers/resolveStack.ts"
import { findContainer, findShell } from "./findContainer.ts"

/** A running command in a container, until the scope closes. */
export interface StartedExec {
  readonly opened: ExecOpened
  readonly events: OpenExec["events"]
}

/**
 * Runs a command in a container of a stack, or a shell if none is given. Records user, container and command in the
 * history before the start, never input or output.
 */
export const openExec = Effect.fn("openExec")(function*(
  serverId: string,
  { command, remotePath: path, service: wanted, terminal }: ExecRequest,
  requestedBy: RequestedBy
) {
  if (!mayExec(requestedBy.door)) {
    return yield* new ExecRefused({
      status: 403,
      reason: "Agents may not run commands in containers. Nothing was started: a person can, with berth exec"
    })
  }
  const { remotePath, server } = yield* resolveStack({ remotePath: path, serverId })
  const container = yield* findContainer(server, remotePath, wanted)
  const words = command ?? [yield* findShell(server, container)]
  const { useSudo } = server
  const execute = (mark: string) => execCommand(container, mark, words, { sudo: useSudo, terminal })
  // Rendered first, so that a command that cannot be sent is not recorded in the history.
  yield* renderCommand(execute("0".repeat(markLength)))
  const secrets = yield* secretsInUse
  const told = words.map((word) => scrubText(word, secrets))
  yield* (yield* RunRecords).add({
    kind: "exec",
    requestedBy,
    subject: {
      serverId: server.id,
      serverName: server.name,
      remotePath,
      container: container.name,
      command: told
    },
    step: {
      name: "start",
      detail: `${quoteInput(told.join(" "))} in ${container.name}${terminal === undefined ? "" : ", on a terminal"}`
    }
  })
  const { events, id } = yield* (yield* Execs).open(requestedBy.name, server, (mark) => ({
    start: execute(mark),
    end: endExecCommand(mark, useSudo)
  }))
  const opened: ExecOpened = { exec: id, container: container.name, service: container.service, command: words }
  return { opened, events } satisfies StartedExec
})
