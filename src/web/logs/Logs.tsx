import { useDeferredValue, useMemo, useState } from "react"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Empty, Failure } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { Search } from "../ui/Search.tsx"
import { counted } from "../ui/words.ts"
import { LogLines } from "./LogLines.tsx"
import { type LogTarget, mostLines, useLogs } from "./useLogs.ts"

/** The followed log of a stack or a container, with a filter. */
export const Logs = ({ name, serverId, target }: {
  readonly name: string
  readonly serverId: string
  readonly target: LogTarget
}) => {
  const { again, failure, lines } = useLogs(serverId, target)
  const [filter, setFilter] = useState("")
  const [following, setFollowing] = useState(true)
  const wanted = useDeferredValue(filter.toLowerCase())
  const found = useMemo(
    () => wanted === "" ? lines : lines.filter(({ text }) => text.toLowerCase().includes(wanted)),
    [lines, wanted]
  )
  const withService = useMemo(() => new Set(lines.slice(-500).map(({ service }) => service)).size > 1, [lines])
  const count = wanted === "" ? counted(lines.length, "line") : `${found.length} of ${counted(lines.length, "line")}`
  return (
    <Panel
      title="Logs"
      note={
        <span className="title">
          <Badge plain>
            <span className="mono">{name}</span>
          </Badge>
          <span className="numbers">{count}{lines.length >= mostLines ? ", older ones let go" : ""}</span>
        </span>
      }
      aside={
        <>
          <Search label="Filter the log" value={filter} onChange={setFilter} />
          <Button icon="down" look={following ? "on small" : "small"} onClick={() => setFollowing(true)}>
            {following ? "Following" : "Follow"}
          </Button>
        </>
      }
    >
      {failure === undefined ? null : <Failure error={failure} again={again} />}
      {lines.length === 0
        ? failure === undefined
          ? <Empty title="No lines yet" icon="activity">What the containers write appears here at once.</Empty>
          : null
        : <LogLines lines={found} following={following} onFollow={setFollowing} withService={withService} />}
    </Panel>
  )
}
