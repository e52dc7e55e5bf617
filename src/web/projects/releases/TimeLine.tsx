import { useState } from "react"
import { Link } from "wouter"
import type { Release } from "../../../schema/deploy/Release.ts"
import type { LocalProject } from "../../../schema/projects/Project.ts"
import type { Run } from "../../../schema/runs/Run.ts"
import { findFinalMessage } from "../../../schema/runs/runVerdict.ts"
import { formatCount } from "../../format/format.ts"
import { Duration } from "../../runs/RunPanel.tsx"
import { describeRun, describeRunOutcome } from "../../runs/runWords.ts"
import { useStackRuns } from "../../runs/useStackRuns.ts"
import { useCall } from "../../service/queries.ts"
import { Age } from "../../ui/Age.tsx"
import { Badge } from "../../ui/Badge.tsx"
import { Button } from "../../ui/Button.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { Empty, Failure, Waiting } from "../../ui/Notes.tsx"
import { Panel } from "../../ui/Panel.tsx"
import { ReleaseDifference } from "./ReleaseDifference.tsx"
import { RollbackDialog } from "./RollbackDialog.tsx"
import { shortenImageId } from "./shortenImageId.ts"
import { useComparedReleases } from "./useComparedReleases.ts"

const RunEntry = ({ run }: { readonly run: Run }) => {
  const { tone, word } = describeRunOutcome(run)
  return (
    <>
      <span className="entry-mark">
        <Icon name="activity" />
      </span>
      <Link className="strong" href={`/activity/${run.id}`}>{describeRun(run)}</Link>
      <span>
        <Badge tone={tone}>{word}</Badge>
      </span>
      <span className="quiet one-line">{findFinalMessage(run) ?? run.steps.at(-1)?.detail ?? ""}</span>
      <span className="quiet">{run.requestedBy.name} · {run.requestedBy.door}</span>
      <Age at={run.requestedAt} />
      <span className="end">
        <Duration run={run} />
      </span>
    </>
  )
}

const ReleaseEntry = ({ isCompared, onBack, onCompare, release: { at, available, by, current, files, id, images } }: {
  readonly release: Release
  readonly isCompared: boolean
  /** Undefined if there is no other release. */
  readonly onCompare: (() => void) | undefined
  readonly onBack: () => void
}) => (
  <>
    <span className="entry-mark release">
      {onCompare === undefined
        ? <Icon name="box" />
        : <input type="checkbox" aria-label={`Compare release ${id}`} checked={isCompared} onChange={onCompare} />}
    </span>
    <span className="strong">Release {id}</span>
    <span>
      {current ? <Badge tone="good">current</Badge> : available ? null : <Badge tone="warn">an image is gone</Badge>}
    </span>
    <span className="quiet one-line">
      {images.map((image) => `${image.name} ${shortenImageId(image.id)}`).join(", ")}
      {images.length === 0 ? "" : " · "}
      {formatCount(files.length, "file")}
    </span>
    <span className="quiet">{by}</span>
    <Age at={at} />
    <span className="end">
      {current
        ? null
        : (
          <Button icon="back" changes look="small" disabled={!available} onClick={onBack}>
            Roll back<span className="unseen">to release {id}</span>
          </Button>
        )}
    </span>
  </>
)

/** Timeline of the runs and releases of a project, newest first, with a rollback to each release. */
export const TimeLine = ({ onStarted, project, serverId }: {
  readonly project: LocalProject
  readonly serverId: string
  readonly onStarted: (run: Run) => void
}) => {
  const { remotePath } = project
  const runs = useStackRuns(serverId, remotePath)
  const releases = useCall(
    ["releases", serverId, remotePath],
    (berth) => berth.listReleases({ path: { id: serverId }, urlParams: { remotePath } }),
    { staleTime: 60_000 }
  )
  const { chosen, clear, toggle } = useComparedReleases()
  const [earlier, later] = chosen
  const [asked, setAsked] = useState<Release>()
  const kept = releases.data?.releases ?? []
  const entries = [
    ...(runs.data ?? []).map((run) => ({ key: run.id, at: run.requestedAt, entry: <RunEntry run={run} /> })),
    ...kept.map((release) => ({
      key: `release ${release.id}`,
      at: release.at,
      entry: (
        <ReleaseEntry
          release={release}
          isCompared={chosen.includes(release.id)}
          onCompare={kept.length > 1 ? () => toggle(release.id) : undefined}
          onBack={() => setAsked(release)}
        />
      )
    }))
  ].toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at))
  const error = runs.error ?? releases.error
  const isWaiting = runs.data === undefined || releases.data === undefined
  const note = earlier !== undefined && later === undefined
    ? `Choose another release to compare release ${earlier} with`
    : `${formatCount(kept.length, "release")} kept on the server${
      kept.length > 1 && later === undefined ? ": choose two to compare them" : ""
    }`
  const line = (
    <Panel
      title="Runs and releases"
      note={releases.data === undefined ? undefined : note}
      aside={<Age at={releases.dataUpdatedAt} before="seen " />}
    >
      {error === null
        ? null
        : <Failure error={error} again={() => Promise.all([runs.refetch(), releases.refetch()])} />}
      {isWaiting && error === null ? <Waiting what="the runs and releases" /> : null}
      {!isWaiting && entries.length === 0
        ? <Empty title="Nothing has been run yet">Each deploy leaves a release, to go back to.</Empty>
        : null}
      <ol className="rows time-line">{entries.map(({ entry, key }) => <li key={key}>{entry}</li>)}</ol>
      {asked === undefined ? null : (
        <RollbackDialog
          project={project}
          serverId={serverId}
          release={asked}
          current={kept.find(({ current }) => current)}
          onClose={() => setAsked(undefined)}
          onStarted={(run) => {
            setAsked(undefined)
            onStarted(run)
          }}
        />
      )}
    </Panel>
  )
  return (
    <>
      {earlier === undefined || later === undefined
        ? null
        : <ReleaseDifference serverId={serverId} remotePath={remotePath} from={earlier} to={later} onClose={clear} />}
      {line}
    </>
  )
}
