import { type ReactNode, useCallback, useRef } from "react"
import { useLocation } from "wouter"
import type { LocalProject } from "../../schema/projects/Project.ts"
import type { Run } from "../../schema/runs/Run.ts"
import { formatCount } from "../format/format.ts"
import { Button } from "../ui/Button.tsx"
import { useKey } from "../ui/Search.tsx"
import { formatRunTitle } from "./formatRunTitle.ts"
import { StackMenu } from "./StackMenu.tsx"
import type { ObservedState } from "./state/projectState.ts"
import type { usePlan } from "./state/usePlan.ts"

/** Buttons of a project: deploy it, and the menu of its stack. */
export const ProjectActions = ({ changes, choice, onDeploy, onStarted, plan, project, run, serverId, standing }: {
  readonly project: LocalProject
  readonly serverId: string
  readonly standing: ObservedState
  readonly plan: ReturnType<typeof usePlan>
  readonly changes: number
  /** Run under way. */
  readonly run: Run | undefined
  /** Control that selects one of several targets. */
  readonly choice: ReactNode
  readonly onDeploy: () => void
  readonly onStarted: (run: Run) => void
}) => {
  const { name, remotePath, targets } = project
  const [, go] = useLocation()
  const button = useRef<HTMLButtonElement>(null)
  useKey("d", useCallback(() => button.current?.focus(), []))
  const isBlocked = targets === undefined && (plan.data === undefined || plan.data.obstacles.length > 0)
  const label = () => {
    if (run !== undefined) return `${formatRunTitle(run)} …`
    if (plan.data === undefined) return "Deploy"
    return changes === 0 ? "Deploy again" : `Deploy ${formatCount(changes, "change")}`
  }
  return (
    <>
      {choice}
      <Button
        ref={button}
        icon="play"
        changes
        look="main-action deploy-button"
        disabled={run !== undefined || isBlocked}
        onClick={onDeploy}
      >
        {label()}
        <kbd aria-hidden="true">d</kbd>
      </Button>
      <StackMenu
        label={`More for ${name}`}
        name={name}
        stack={{ serverId, remotePath }}
        state={standing.state}
        isUp={standing.isUp}
        underWay={run !== undefined}
        onStarted={onStarted}
      >
        <Button look="menu-item" icon="servers" onClick={() => go(`/servers/${encodeURIComponent(serverId)}`)}>
          Go to its server
        </Button>
      </StackMenu>
    </>
  )
}
