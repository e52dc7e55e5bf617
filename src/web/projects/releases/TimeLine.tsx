import { useState } from "react"
import { Link, useSearchParams } from "wouter"
import type { LocalProject } from "../../../schema/projects.ts"
import { type ComparedService, describeSource, type Release, type ReleaseImage } from "../../../schema/releases.ts"
import { findFinalMessage, type Run } from "../../../schema/runs.ts"
import { describeRun, describeRunOutcome, Duration } from "../../runs/RunPanel.tsx"
import { formatCount, useCall, useStackRuns, useStartRun } from "../../service.ts"
import { Age, Badge, Button, Empty, Failure, Icon, Loading, Panel, Waiting, Warnings } from "../../ui/components.tsx"
import { Confirm, useProtection } from "../../ui/dialogs.tsx"
import { ChangedFileRow, changeWords, PlannedRow, PlannedServiceRow } from "../plan/rows.tsx"

/** First digits of an image id, as Docker shows it. */
const shortenImageId = (id: string): string => id.replace("sha256:", "").slice(0, 12)

interface Difference {
  readonly name: string
  readonly change: "new" | "changed" | "removed" | "same"
  readonly detail: string
}

/** Differences between the images of two releases, compared by id. */
const imageDifferences = (from: Release | undefined, to: Release): ReadonlyArray<Difference> => {
  const before = new Map(from?.images.map(({ id, name }) => [name, id]))
  const after = new Map(to.images.map(({ id, name }) => [name, id]))
  return [...new Set([...before.keys(), ...after.keys()])].map((name): Difference => {
    const [old, now] = [before.get(name), after.get(name)]
    if (now === undefined) return { name, change: "removed", detail: "" }
    if (old === undefined) return { name, change: "new", detail: shortenImageId(now) }
    return old === now
      ? { name, change: "same", detail: shortenImageId(now) }
      : { name, change: "changed", detail: `${shortenImageId(old)} → ${shortenImageId(now)}` }
  })
}

const Line = ({ difference: { change, detail, name } }: { readonly difference: Difference }) => {
  const [tone, sign, words] = changeWords[change]
  return (
    <li>
      <span className={`sign ${tone}`} aria-hidden="true">{sign}</span>
      <span>
        image <code>{name}</code> {words} {detail}
      </span>
    </li>
  )
}

/** Fetches a new rollback plan: the server may have changed since the dialog was last open. */
const useRollbackPlan = (
  payload: { readonly serverId: string; readonly remotePath: string; readonly release: string }
) =>
  useCall(
    ["rollback", payload.serverId, payload.remotePath, payload.release],
    (berth) => berth.planRollback({ payload }),
    { staleTime: 0 }
  )

/** Files and services that a rollback changes, and how each service gets its container. */
const RollbackChanges = ({ plan: { data, error } }: { readonly plan: ReturnType<typeof useRollbackPlan> }) => {
  if (data === undefined) return error === null ? <Waiting what="the plan" /> : <Failure error={error} />
  return (
    <>
      <Failure error={error} />
      <Warnings texts={[...data.obstacles, ...data.warnings]} />
      {data.files.filter(({ change }) => change !== "same").map((file) => (
        <ChangedFileRow key={`file ${file.name}`} file={file} />
      ))}
      {data.services.filter(({ change }) => change !== "keep").map((service) => (
        <PlannedServiceRow key={`service ${service.name}`} service={service} />
      ))}
    </>
  )
}

/** Shows the difference between the current and an earlier release, and rolls back. */
const RollbackDialog = ({ current, onClose, onStarted, project, release, serverId }: {
  readonly project: LocalProject
  readonly serverId: string
  readonly release: Release
  readonly current: Release | undefined
  readonly onClose: () => void
  readonly onStarted: (run: Run) => void
}) => {
  const { error, isPending, mutate } = useStartRun(onStarted)
  const payload = { serverId, remotePath: project.remotePath, release: release.id }
  const plan = useRollbackPlan(payload)
  const { confirmation, field, isConfirmed } = useProtection(
    plan.data?.protected === true ? plan.data.environment : undefined
  )
  // A cached plan of an earlier opening may be outdated.
  const isBlocked = plan.data === undefined || plan.error !== null || plan.isFetching || plan.data.obstacles.length > 0
  return (
    <Confirm
      title={`Roll ${project.name} back to release ${release.id}?`}
      action={`Run release ${release.id} again`}
      danger
      wide
      disabled={isPending || isBlocked || !isConfirmed}
      stays
      onClose={onClose}
      onConfirm={() => mutate((berth) => berth.rollback({ payload: { ...payload, ...confirmation } }))}
    >
      <Failure error={error} />
      {current === undefined ? null : <p>Release {current.id} runs now. With release {release.id}:</p>}
      <ul className="what">
        {imageDifferences(current, release).map((difference) => <Line key={difference.name} difference={difference} />)}
      </ul>
      <div className="rollback-changes">
        <RollbackChanges plan={plan} />
      </div>
      {field}
      <p className="quiet">
        Nothing is sent: the server has it all. The files here stay as they are. What runs then is a new release, and a
        step that fails is undone.
      </p>
    </Confirm>
  )
}

const imageWords = (image: ReleaseImage | null): string =>
  image === null ? "unknown image" : `${image.name} ${shortenImageId(image.id)}`

const imagesOf = ({ change, from, to }: ComparedService): string =>
  change === "new"
    ? imageWords(to)
    : change === "removed"
    ? imageWords(from)
    : `${imageWords(from)} → ${imageWords(to)}`

const differenceWords = (services: number, files: number): string | undefined => {
  const parts = [
    ...services === 0 ? [] : [formatCount(services, "service")],
    ...files === 0 ? [] : [formatCount(files, "file")]
  ]
  return parts.length === 0 ? undefined : `${parts.join(" and ")} ${services + files === 1 ? "differs" : "differ"}`
}

const Side = ({ release: { at, by, current, id } }: { readonly release: Release }) => (
  <span>
    <span className="strong">Release {id}</span> {current ? "(current) " : ""}
    <span className="quiet">
      by {by} <Age at={at} />
    </span>
  </span>
)

/** Difference between two releases: images of services, files and their texts. */
const ReleaseDifference = ({ from, onClose, remotePath, serverId, to }: {
  readonly serverId: string
  readonly remotePath: string
  readonly from: string
  readonly to: string
  readonly onClose: () => void
}) => {
  const { data, error, refetch } = useCall(
    ["compareReleases", serverId, remotePath, from, to],
    (berth) => berth.compareReleases({ path: { id: serverId }, urlParams: { remotePath, from, to } }),
    { staleTime: 60_000 }
  )
  const services = data?.services.filter(({ change }) => change !== "same") ?? []
  const files = data?.files.filter(({ change }) => change !== "same") ?? []
  return (
    <Panel
      title={`From release ${from} to ${to}`}
      note={data === undefined
        ? undefined
        : differenceWords(services.length, files.length)}
      aside={<Button look="small" icon="cross" onClick={onClose}>Close the comparison</Button>}
    >
      <Loading query={{ data, error, refetch }} what="the difference" />
      {data === undefined ? null : (
        <>
          <p className="note compared">
            <Side release={data.from} />
            <span aria-hidden="true">→</span>
            <Side release={data.to} />
          </p>
          {services.length + files.length === 0
            ? (
              <Empty title="Nothing differs" icon="check">
                Both releases have the same images and the same {formatCount(data.files.length, "file")}.
              </Empty>
            )
            : null}
          {services.map((service) => (
            <PlannedRow
              key={`service ${service.name}`}
              name={service.name}
              kind="service"
              change={service.change}
              aside={<code>{imagesOf(service)}</code>}
            />
          ))}
          {files.map((file) => <ChangedFileRow key={`file ${file.name}`} file={file} />)}
        </>
      )}
    </Panel>
  )
}

const mostCompared = 2

const byAge = (ids: ReadonlyArray<string>) => ids.toSorted((one, other) => Number(one) - Number(other))

/** Releases chosen for a comparison, oldest first; stored in the address. */
const useComparedReleases = () => {
  const [params, setParams] = useSearchParams()
  const chosen = byAge([...new Set(params.getAll("compare"))].slice(-mostCompared))
  const choose = (ids: ReadonlyArray<string>) =>
    setParams((before) => {
      const after = new URLSearchParams(before)
      after.delete("compare")
      for (const id of ids) after.append("compare", id)
      return after
    })
  return {
    chosen,
    /** Adds a release to the comparison or removes it. A third one replaces the one that was chosen first. */
    toggle: (id: string) =>
      choose(
        chosen.includes(id)
          ? chosen.filter((each) => each !== id)
          : [...new Set(params.getAll("compare")), id].slice(-mostCompared)
      ),
    clear: () => choose([])
  }
}

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

const ReleaseEntry = ({ isCompared, onBack, onCompare, release }: {
  readonly release: Release
  readonly isCompared: boolean
  /** Undefined if there is no other release. */
  readonly onCompare: (() => void) | undefined
  readonly onBack: () => void
}) => {
  const { at, available, by, current, files, id, images } = release
  const source = describeSource(release)
  return (
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
        {source === "" ? "" : ` · ${source}`}
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
}

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
