import type { Comparison } from "../../schema/Compare.ts"
import type { LocalProject } from "../../schema/Project.ts"
import type { Server } from "../../schema/Server.ts"
import { Confirm } from "../ui/Confirm.tsx"
import { bytes, counted } from "../ui/words.ts"
import { changesOf } from "./standing.ts"

const mostNamed = 8

/** Says what a deploy will do, and asks. */
export const ConfirmDeploy = ({ comparison, onClose, onConfirm, project, server }: {
  readonly project: LocalProject
  readonly server: Server | undefined
  readonly comparison: Comparison
  readonly onConfirm: () => void
  readonly onClose: () => void
}) => {
  const changes = changesOf(comparison)
  return (
    <Confirm
      title={`Deploy ${project.name} to ${server?.name ?? "its server"}?`}
      action={changes.length === 0 ? "Deploy again" : `Deploy ${counted(changes.length, "change")}`}
      onClose={onClose}
      onConfirm={onConfirm}
    >
      <ul className="what">
        {changes.slice(0, mostNamed).map(({ localSize, name, status }) => (
          <li key={name}>
            <span className={`sign ${status === "local-only" ? "good" : "warn"}`} aria-hidden="true">
              {status === "local-only" ? "+" : "~"}
            </span>
            <span>
              <code>{name}</code> {status === "local-only" ? "is new" : "changes"}, {bytes(localSize ?? 0)}
            </span>
          </li>
        ))}
        {changes.length > mostNamed ? <li>and {counted(changes.length - mostNamed, "file")} more</li> : null}
        {changes.length === 0 ? <li>No file changes: the same stack is started again.</li> : null}
      </ul>
      <p className="quiet">
        In <code>{project.remotePath}</code>
        {server === undefined ? "" : ` on ${server.username}@${server.host}`}. What the server lacks is sent, the stack
        is started, and Berth waits until it is healthy. A step that fails is undone.
      </p>
    </Confirm>
  )
}
