import type { ContainerPlan } from "../../schema/ContainerPlan.ts"
import type { LocalProject } from "../../schema/Project.ts"
import type { Server } from "../../schema/Server.ts"
import { Confirm } from "../ui/Confirm.tsx"
import { bytes, counted } from "../ui/words.ts"
import { changeWords } from "./changeWords.ts"
import { changedIn, countChanges } from "./usePlan.ts"

const mostNamed = 8

/** Says what a deploy will do, and asks. */
export const ConfirmDeploy = ({ onClose, onConfirm, plan, project, server }: {
  readonly project: LocalProject
  readonly server: Server | undefined
  readonly plan: ContainerPlan
  readonly onConfirm: () => void
  readonly onClose: () => void
}) => {
  const { files, images } = changedIn(plan)
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
      action={count === 0 ? "Deploy again" : `Deploy ${counted(count, "change")}`}
      onClose={onClose}
      onConfirm={onConfirm}
    >
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
        {lines.length === 0 ? <li>Nothing differs: the same stack is started again.</li> : null}
      </ul>
      <p className="quiet">
        In <code>{project.remotePath}</code>
        {server === undefined ? "" : ` on ${server.username}@${server.host}`}, sending {bytes(plan.bytesToSend)} of{" "}
        {bytes(plan.bytesTotal)}. Berth waits until the stack is healthy, and undoes a step that fails. If anything has
        moved since this plan was made, nothing is changed.
      </p>
    </Confirm>
  )
}
