import { useCall } from "../service/queries.ts"
import { Age } from "../ui/Age.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Failure, Waiting } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"

const names = {
  application: "The platform runs it",
  port: "Its port takes connections",
  route: "The proxy leads its domain there",
  https: "HTTPS on the domain answers"
} as const

/** Hops of a verification. */
export const VerifyPanel = ({ appName, projectPath }: { readonly projectPath: string; readonly appName: string }) => {
  const { data, dataUpdatedAt, error, isFetching, refetch } = useCall(
    ["verify", projectPath, appName],
    (berth) => berth.verify({ payload: { projectPath, appName } }),
    { staleTime: 5 * 60_000 }
  )
  return (
    <Panel
      title="The way to it"
      note={data === undefined
        ? undefined
        : data.failing === null
        ? <Badge tone="good">a request gets through</Badge>
        : <Badge tone="bad">stops at {data.failing}</Badge>}
      aside={
        <>
          {isFetching ? <span>following it …</span> : <Age at={dataUpdatedAt} before="followed " />}
          <Button icon="again" look="small" disabled={isFetching} onClick={refetch}>Verify</Button>
        </>
      }
    >
      <Failure error={error} />
      {data === undefined && error === null ? <Waiting what="the way" /> : null}
      <ol className="steps">
        {data?.hops.map(({ detail, hop, millis, ok, warning }) => (
          <li key={hop} className={`step ${ok ? "done" : "error"}`}>
            <span className="mark">
              <Icon name={ok ? "check" : "cross"} />
            </span>
            <span className="name">
              {names[hop]}
              <span className="unseen">: {ok ? "yes" : "no"}</span>
            </span>
            <span className="time numbers">{Math.round(millis)} ms</span>
            <span className="detail">{warning === undefined ? detail : `${detail}. ${warning}`}</span>
          </li>
        ))}
      </ol>
    </Panel>
  )
}
