import type { ContainerPlan } from "../../schema/deploy/ContainerPlan.ts"
import { describeHook } from "../../schema/deploy/describeHook.ts"
import { countChanges, filterChangedParts } from "../../schema/deploy/plannedChanges.ts"
import type { LocalProject } from "../../schema/projects/Project.ts"
import type { Server } from "../../schema/servers/Server.ts"
import { formatBytes } from "../../schema/words/formatBytes.ts"
import { formatCount } from "../format/format.ts"
import { Confirm } from "../ui/Confirm.tsx"
import { Failure } from "../ui/Notes.tsx"
import { changeWords } from "./plan/changeWords.ts"

const mostNamed = 8

/** Summarizes the plan of a deploy and asks to confirm it. */
export const ConfirmDeploy = ({ busy, onClose, onConfirm, plan, project, server }: {
  readonly project: LocalProject
  readonly server: Server | undefined
  readonly plan: ContainerPlan
  readonly busy: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
}) => {
  const { files, images } = filterChangedParts(plan)
  const lines = [
    ...files.map(({ change, name }) => ({ change, name, kind: "" })),
    ...images.map(({ change, name }) => ({ change, name, kind: "image " })),
    ...plan.services.filter(({ change }) => change !== "keep").map(({ change, name }) => ({
      change,
      name,
      kind: "service "
    }))
  ]
  const count = countChanges(plan)
  return (
    <Confirm
      title={`Deploy ${project.name} to ${server?.name ?? "its server"}?`}
      action={count === 0 ? "Deploy again" : `Deploy ${formatCount(count, "change")}`}
      disabled={busy || plan.obstacles.length > 0}
      stays
      onClose={onClose}
      onConfirm={onConfirm}
    >
      {plan.obstacles.map((obstacle) => <Failure key={obstacle} error={new Error(obstacle)} />)}
      <ul className="what">
        {lines.slice(0, mostNamed).map(({ change, kind, name }) => {
          const [tone, sign, words] = changeWords[change]
          return (
            <li key={`${kind}${name}`}>
              <span className={`sign ${tone}`} aria-hidden="true">{sign}</span>
              <span>
                {kind}
                <code>{name}</code> {words}
              </span>
            </li>
          )
        })}
        {lines.length > mostNamed ? <li>and {lines.length - mostNamed} more</li> : null}
        {(plan.hooks ?? []).map((hook, index) => (
          // A hook may contain the same command twice, so the index is the key.
          <li key={`hook ${index}`}>
            <span className="sign" aria-hidden="true">▸</span>
            <span>
              runs <code>{describeHook(hook)}</code>
            </span>
          </li>
        ))}
        {lines.length === 0 ? <li>Nothing differs: the same stack is started again.</li> : null}
      </ul>
      <p className="quiet">
        In <code>{project.remotePath}</code>
        {server === undefined ? "" : ` on ${server.username}@${server.host}`}, sending {formatBytes(plan.bytesToSend)}
        {" "}
        of{" "}
        {formatBytes(plan.bytesTotal)}. Berth waits until the stack is healthy, and undoes a step that fails. If
        anything has moved since this plan was made, nothing is changed.
      </p>
    </Confirm>
  )
}
