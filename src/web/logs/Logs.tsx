import { lazy, Suspense } from "react"
import { Boundary, Panel, Waiting } from "../ui/components.tsx"
import type { LogTarget } from "./useLogs.ts"

// Loaded when a log is first shown.
const LogView = lazy(() => import("./LogView.tsx").then(({ LogView }) => ({ default: LogView })))

/** Live log of a stack or a container. */
export const Logs = ({ name, serverId, target }: {
  readonly name: string
  readonly serverId: string
  readonly target: LogTarget
}) => (
  <Boundary what="This log">
    <Suspense
      fallback={
        <Panel title="Logs">
          <Waiting what="the log" />
        </Panel>
      }
    >
      <LogView
        name={name}
        source={{ serverId, target }}
        stacks={"remotePath" in target ? [{ serverId, remotePath: target.remotePath }] : []}
      />
    </Suspense>
  </Boundary>
)
