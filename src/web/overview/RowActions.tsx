import { useState } from "react"
import { useLocation } from "wouter"
import type { ObservedProject } from "../../schema/Overview.ts"
import type { LocalProject } from "../../schema/projects/Project.ts"
import { DeployDialog } from "../projects/DeployDialog.tsx"
import { buildProjectHref } from "../projects/projectHref.ts"
import { StackMenu } from "../projects/StackMenu.tsx"
import { isReady } from "../projects/state/usePlan.ts"
import { Button } from "../ui/Button.tsx"

/** Actions of a project's row: deploy it, read its log, and more. */
export const RowActions = ({ observed, project }: {
  readonly project: LocalProject
  readonly observed: ObservedProject | undefined
}) => {
  const [asking, setAsking] = useState(false)
  const [, go] = useLocation()
  const { name, serverId } = project
  const [stack] = observed?.servers ?? []
  if (!isReady(project) || serverId === null) return null
  const underWay = observed === undefined || observed.run !== null
  return (
    <>
      <Button icon="play" look="small" changes disabled={underWay} onClick={() => setAsking(true)}>
        Deploy<span className="unseen">{name}</span>
      </Button>
      {(stack?.containerNames.length ?? 0) === 0 ?
        null :
        (
          <Button icon="log" look="small" onClick={() => go(`${buildProjectHref(name)}#log`)}>
            Log<span className="unseen">of {name}</span>
          </Button>
        )}
      <StackMenu
        label={`More for ${name}`}
        name={name}
        stack={{ serverId, remotePath: project.remotePath }}
        state={observed?.state}
        isUp={(stack?.containers?.up ?? 0) > 0}
        underWay={underWay}
        onStarted={({ id }) => go(`/activity/${id}`)}
      >
        <Button look="menu-item" icon="eye" onClick={() => go(buildProjectHref(name, "changes"))}>
          See the changes
        </Button>
        <Button look="menu-item" icon="activity" onClick={() => go(buildProjectHref(name, "runs"))}>
          Runs and releases
        </Button>
      </StackMenu>
      {asking
        ? (
          <DeployDialog
            project={project}
            onClose={() => setAsking(false)}
            onStarted={() => go(buildProjectHref(name))}
          />
        )
        : null}
    </>
  )
}
