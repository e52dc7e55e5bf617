import { useState } from "react"
import type { LocalProject } from "../../schema/Project.ts"
import type { Release } from "../../schema/Release.ts"
import type { Run } from "../../schema/Run.ts"
import { useCall } from "../service/queries.ts"
import { useStartRun } from "../service/startRun.ts"
import { Age } from "../ui/Age.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Confirm } from "../ui/Confirm.tsx"
import { Empty, Failure, Waiting } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { counted } from "../ui/words.ts"

const Row = ({ disabled, onBack, release: { at, available, by, current, files, id, images } }: {
  readonly release: Release
  readonly disabled: boolean
  readonly onBack: () => void
}) => (
  <li>
    <span className="strong">Release {id}</span>
    {current ? <Badge tone="good">current</Badge> : available ? null : <Badge tone="warn">an image is gone</Badge>}
    <span className="grow quiet">
      {images.map(({ id: image, name }) => `${name} ${image.replace("sha256:", "").slice(0, 12)}`).join(", ")} ·{" "}
      {counted(files.length, "file")}
    </span>
    <span className="quiet">{by}</span>
    <Age at={at} />
    {current
      ? null
      : <Button icon="back" look="small" disabled={disabled || !available} onClick={onBack}>Roll back</Button>}
  </li>
)

/** What deploys have left on the server, each of which can be gone back to. */
export const Releases = ({ onStarted, project, serverId }: {
  readonly project: LocalProject
  readonly serverId: string
  readonly onStarted: (run: Run) => void
}) => {
  const { remotePath } = project
  const { data, dataUpdatedAt, error, refetch } = useCall(
    ["releases", serverId, remotePath],
    (berth) => berth.listReleases({ path: { id: serverId }, urlParams: { remotePath } }),
    { staleTime: 60_000 }
  )
  const [asked, setAsked] = useState<Release>()
  const rollback = useStartRun(onStarted)
  return (
    <Panel
      title="Releases"
      note={data === undefined ? undefined : `${data.releases.length} kept on the server`}
      aside={<Age at={dataUpdatedAt} before="seen " />}
    >
      {error === null ? null : <Failure error={error} again={refetch} />}
      {rollback.error === null ? null : <Failure error={rollback.error} />}
      {data === undefined && error === null ? <Waiting what="the releases" /> : null}
      {data?.releases.length === 0
        ? <Empty title="No release yet">Each deploy leaves one, to go back to.</Empty>
        : null}
      <ul className="rows">
        {data?.releases.map((release) => (
          <Row
            key={release.id}
            release={release}
            disabled={rollback.isPending}
            onBack={() => setAsked(release)}
          />
        ))}
      </ul>
      {asked === undefined ? null : (
        <Confirm
          title={`Roll ${project.name} back to release ${asked.id}?`}
          action={`Run release ${asked.id} again`}
          danger
          onClose={() => setAsked(undefined)}
          onConfirm={() => {
            const payload = { serverId, remotePath, release: asked.id }
            setAsked(undefined)
            rollback.mutate((berth) => berth.rollback({ payload }))
          }}
        >
          <ul className="what">
            {asked.images.map(({ name }) => (
              <li key={name}>
                <span className="sign warn" aria-hidden="true">~</span>
                <span>
                  image <code>{name}</code> as it was then
                </span>
              </li>
            ))}
            {asked.files.map((name) => (
              <li key={name}>
                <span className="sign warn" aria-hidden="true">~</span>
                <span>
                  <code>{name}</code> as it was then
                </span>
              </li>
            ))}
          </ul>
          <p className="quiet">
            Nothing is sent: the server has it all. The files here stay as they are. What runs then is a new release,
            and a step that fails is undone.
          </p>
        </Confirm>
      )}
    </Panel>
  )
}
