import { useState } from "react"
import type { Backup } from "../../schema/backups.ts"
import type { LocalProject } from "../../schema/projects.ts"
import type { Run } from "../../schema/runs.ts"
import { formatBytes } from "../../schema/words.ts"
import { formatCount, useCall, useStartRun } from "../service.ts"
import { Age, Badge, Button, Empty, Failure, Icon, Loading, Panel, Waiting, Warnings } from "../ui/components.tsx"
import { Confirm, useProtection } from "../ui/dialogs.tsx"

interface StackProps {
  readonly project: LocalProject
  readonly serverId: string
  readonly onStarted: (run: Run) => void
}

const formatSize = ({ items }: Pick<Backup, "items">): string =>
  formatBytes(items.reduce((sum, { bytes }) => sum + bytes, 0))

const reasons: Readonly<Record<Backup["trigger"], string>> = {
  deploy: "before a deploy",
  request: "on request",
  schedule: "scheduled",
  restore: "before a restore"
}

/** Places of a backup: its server, and each copy with its outcome. */
const Places = ({ backup: { copies, onServer } }: { readonly backup: Backup }) => (
  <>
    {onServer ? <Badge>server</Badge> : <Badge tone="warn">not on the server</Badge>}
    {copies.map(({ to, verified }) => (
      <Badge key={to} tone={verified ? "good" : "bad"}>{verified ? to : `${to}: failed`}</Badge>
    ))}
  </>
)

/** Shows what a restore puts back and what is lost, and restores. */
const RestoreDialog = ({ backup, onClose, onStarted, project: { name, remotePath }, serverId }: StackProps & {
  readonly backup: Backup
  readonly onClose: () => void
}) => {
  const { error, isPending, mutate } = useStartRun(onStarted)
  const payload = { serverId, remotePath, backup: backup.id }
  const plan = useCall(
    ["restore", serverId, remotePath, backup.id],
    (berth) => berth.planRestore({ payload }),
    { staleTime: 0 }
  )
  const { data } = plan
  const { confirmation, field, isConfirmed } = useProtection(data?.protected === true ? data.environment : undefined)
  const isBlocked = data === undefined || plan.error !== null || plan.isFetching
  return (
    <Confirm
      title={`Restore backup ${backup.id} of ${name}?`}
      action="Put this data back"
      danger
      disabled={isPending || isBlocked || !isConfirmed}
      stays
      onClose={onClose}
      onConfirm={() =>
        mutate((berth) =>
          berth.restore({ payload: { ...payload, ...confirmation, planHash: data?.planHash ?? null } })
        )}
    >
      <Failure error={error} />
      {data === undefined ? plan.error === null ? <Waiting what="the plan" /> : <Failure error={plan.error} /> : (
        <>
          <Warnings texts={data.warnings} />
          <p>
            What was written since the backup, <Age at={data.lost.since} />, is replaced:
          </p>
          <ul className="what">
            {data.items.map(({ bytes, name }) => (
              <li key={name}>
                <code>{name}</code> {formatBytes(bytes)}
              </li>
            ))}
          </ul>
          {data.stops.length === 0 ? null : <p>Stopped meanwhile: {data.stops.join(", ")}.</p>}
        </>
      )}
      {field}
      <p className="quiet">
        Every byte is verified first, and what is there now becomes another backup. A restore that fails leads back to
        it.
      </p>
    </Confirm>
  )
}

/** Reads a backup again on its server, and tells what it found. */
const Verified = ({ backup, project: { remotePath }, serverId }: Omit<StackProps, "onStarted"> & {
  readonly backup: string
}) => {
  const { data, error, refetch } = useCall(
    ["verifyBackup", serverId, remotePath, backup],
    (berth) => berth.verifyBackup({ payload: { serverId, remotePath, backup } }),
    { staleTime: Number.POSITIVE_INFINITY }
  )
  const bad = data?.items.filter(({ state }) => state !== "whole") ?? []
  return (
    <>
      <Loading query={{ data, error, refetch }} what={`backup ${backup}`} />
      {data === undefined ? null : (
        <p className={data.whole ? "note good" : "note warn"} role="status">
          Backup {backup} {data.whole
            ? "is as it was written."
            : `is not as it was written: ${bad.map(({ name, state }) => `${name} is ${state}`).join(", ")}.`}
        </p>
      )}
    </>
  )
}

const Entry = ({ backup, onRestore, onVerify }: {
  readonly backup: Backup
  readonly onRestore: () => void
  readonly onVerify: () => void
}) => {
  const { by, id, items, onServer, release, takenAt, trigger } = backup
  return (
    <>
      <span className="entry-mark">
        <Icon name="box" />
      </span>
      <span className="strong">Backup {id}</span>
      <span className="one-line">
        {items.map(({ bytes, name }) => `${name} ${formatBytes(bytes)}`).join(", ")}
      </span>
      <span className="quiet">
        {release === null ? "" : `release ${release} · `}
        {reasons[trigger]} · {by}
      </span>
      <span className="places">
        <Places backup={backup} />
      </span>
      <Age at={takenAt} />
      <span className="end">
        <Button icon="check" changes look="small" disabled={!onServer} onClick={onVerify}>
          Verify<span className="unseen">backup {id}</span>
        </Button>{" "}
        <Button icon="back" changes look="small" onClick={onRestore}>
          Restore<span className="unseen">backup {id}</span>
        </Button>
      </span>
    </>
  )
}

/** Backups of a project with their places; takes, verifies and restores them. */
export const Data = ({ onStarted, project, serverId }: StackProps) => {
  const { remotePath } = project
  const { data, dataUpdatedAt, error, refetch } = useCall(
    ["backups", serverId, remotePath],
    (berth) => berth.listBackups({ path: { id: serverId }, urlParams: { remotePath } }),
    { staleTime: 60_000 }
  )
  const backing = useStartRun(onStarted)
  const [asked, setAsked] = useState<Backup>()
  const [verified, setVerified] = useState("")
  const backups = data?.backups ?? []
  const here = backups.filter(({ onServer }) => onServer)
  const size = formatSize({ items: here.flatMap(({ items }) => items) })
  return (
    <Panel
      title="Backups"
      note={data === undefined || backups.length === 0
        ? undefined
        : `${formatCount(here.length, "backup")} of ${size} on the server`}
      aside={
        <>
          <Age at={dataUpdatedAt} before="seen " />
          <Button
            icon="plus"
            changes
            look="small"
            disabled={backing.isPending}
            onClick={() => backing.mutate((berth) => berth.backup({ payload: { serverId, remotePath } }))}
          >
            Back up now
          </Button>
        </>
      }
    >
      <Failure error={backing.error} />
      <Loading query={{ data, error, refetch }} what="the backups" />
      <Warnings texts={data?.warnings ?? []} />
      {verified === "" ? null : <Verified key={verified} backup={verified} project={project} serverId={serverId} />}
      {data !== undefined && backups.length === 0
        ? (
          <Empty title="No backup yet">
            Name the databases and volumes to keep under <code>backups</code> in <code>container.json</code>{" "}
            and deploy: each deploy keeps them first.
          </Empty>
        )
        : null}
      <ol className="rows backups">
        {backups.map((backup) => (
          <li key={backup.id}>
            <Entry backup={backup} onRestore={() => setAsked(backup)} onVerify={() => setVerified(backup.id)} />
          </li>
        ))}
      </ol>
      {asked === undefined ? null : (
        <RestoreDialog
          project={project}
          serverId={serverId}
          backup={asked}
          onClose={() => setAsked(undefined)}
          onStarted={(run) => {
            setAsked(undefined)
            onStarted(run)
          }}
        />
      )}
    </Panel>
  )
}
