import { useCall } from "../service/queries.ts"
import { Age } from "../ui/Age.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Head } from "../ui/Head.tsx"
import { Empty, Failure, Waiting } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { Adopt } from "./Adopt.tsx"
import { toStatusTone } from "./toStatusTone.ts"
import { RemoveButton, useRemoval } from "./useRemoval.tsx"
import { Variables } from "./Variables.tsx"

const told = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

const Screen = ({ onRemove, uuid }: { readonly uuid: string; readonly onRemove: (name: string) => void }) => {
  const { data, dataUpdatedAt, error, refetch } = useCall(["applications"], (berth) => berth.listApplications(), {
    every: 60_000
  })
  const application = data?.find((each) => each.uuid === uuid)
  const under = { name: "Applications", href: "/applications" }
  if (application === undefined) {
    return (
      <div className="page">
        <Head title="Application" under={under} />
        <Panel title="The platform">
          {error !== null
            ? <Failure error={error} again={refetch} />
            : data === undefined
            ? <Waiting what="the application" />
            : <Empty title="The platform has no such application" icon="applications" />}
        </Panel>
      </div>
    )
  }
  const name = told(application.name) ?? uuid
  const status = told(application.status)
  const facts = [
    ["Domain", told(application.fqdn)],
    ["Repository", told(application.git_repository)],
    ["Branch", told(application.git_branch)],
    ["Port", told(application._host_port)],
    ["Uuid", uuid]
  ] as const
  return (
    <div className="page">
      <Head
        title={name}
        under={under}
        state={
          <>
            {status === undefined ? null : <Badge tone={toStatusTone(status)}>{status}</Badge>}
            <Badge>declared by no project here</Badge>
            <Age at={dataUpdatedAt} before="seen " />
          </>
        }
        facts={facts.flatMap(([label, value]) => (value === undefined ? [] : [[label, <code>{value}</code>] as const]))}
        actions={<RemoveButton name={name} onAsk={() => onRemove(name)} />}
      />
      <Adopt uuid={uuid} name={name} />
      <Variables uuid={uuid} />
    </div>
  )
}

/** Screen of an undeclared application. */
export const LiveApplication = ({ uuid }: { readonly uuid: string }) => {
  const { ask, dialog } = useRemoval()
  return (
    <>
      <Screen uuid={uuid} onRemove={(name) => ask({ uuid, name })} />
      {dialog}
    </>
  )
}
