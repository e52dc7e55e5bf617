import type { Release, ReleaseImage } from "../../../schema/deploy/Release.ts"
import type { ComparedService } from "../../../schema/deploy/ReleaseComparison.ts"
import { formatCount } from "../../format/format.ts"
import { useCall } from "../../service/queries.ts"
import { Age } from "../../ui/Age.tsx"
import { Button } from "../../ui/Button.tsx"
import { Empty, Loading } from "../../ui/Notes.tsx"
import { Panel } from "../../ui/Panel.tsx"
import { ChangedFileRow } from "../plan/ChangedFileRow.tsx"
import { PlannedRow } from "../plan/PlannedRow.tsx"
import { shortenImageId } from "./shortenImageId.ts"

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
export const ReleaseDifference = ({ from, onClose, remotePath, serverId, to }: {
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
