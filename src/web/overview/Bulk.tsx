import { useState } from "react"
import type { Overview } from "../../schema/Overview.ts"
import type { LocalProject } from "../../schema/projects/Project.ts"
import { formatCount } from "../format/format.ts"
import { Button } from "../ui/Button.tsx"
import { BulkDialog, type BulkKind } from "./BulkDialog.tsx"

/** Toolbar for the chosen projects: deploys or restarts all of them. */
export const Bulk = ({ onChoose, overview, projects }: {
  readonly projects: ReadonlyArray<LocalProject>
  readonly overview: Overview | undefined
  /** Replaces the choice by the projects of these paths. */
  readonly onChoose: (paths: ReadonlyArray<string>) => void
}) => {
  const [asked, setAsked] = useState<BulkKind>()
  if (projects.length === 0) return null
  return (
    <div className="bulk" role="toolbar" aria-label="Chosen projects">
      <span className="strong grow">{formatCount(projects.length, "project")} chosen</span>
      <Button icon="play" look="small" changes onClick={() => setAsked("deploy")}>Deploy them</Button>
      <Button icon="again" look="small" changes onClick={() => setAsked("restart")}>Restart them</Button>
      <Button look="small" onClick={() => onChoose([])}>Choose none</Button>
      {asked === undefined
        ? null
        : (
          <BulkDialog
            kind={asked}
            projects={projects}
            overview={overview}
            onClose={() => setAsked(undefined)}
            onStarted={(failed) => {
              if (failed.length === 0) setAsked(undefined)
              onChoose(failed)
            }}
          />
        )}
    </div>
  )
}
