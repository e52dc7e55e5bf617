import { useState } from "react"
import type { Call } from "../../client/index.ts"
import type { Run } from "../../schema/Run.ts"
import { useStartRun } from "../service/startRun.ts"
import { Button } from "../ui/Button.tsx"
import { Confirm } from "../ui/Confirm.tsx"
import { Failure } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"

interface Stack {
  readonly serverId: string
  readonly remotePath: string
}

interface Action {
  readonly name: string
  readonly what: string
  readonly danger: boolean
  readonly call: (payload: Stack) => Call<unknown>
}

const actions: ReadonlyArray<Action> = [
  {
    name: "Restart",
    what: "Its containers are restarted, and Berth waits until they are healthy.",
    danger: false,
    call: (payload) => (berth) => berth.restartStack({ payload })
  },
  {
    name: "Stop",
    what: "Its containers stop and are kept: nothing answers until it is started again.",
    danger: true,
    call: (payload) => (berth) => berth.stopStack({ payload })
  },
  {
    name: "Start",
    what: "It is started as it was deployed, and Berth waits until it is healthy.",
    danger: false,
    call: (payload) => (berth) => berth.startStack({ payload })
  },
  {
    name: "Remove",
    what:
      "Its containers and networks are removed, then the files and images that Berth brought. data/ and volumes stay.",
    danger: true,
    call: (payload) => (berth) => berth.removeStack({ payload })
  }
]

/** What can be done to a stack that is on its server. */
export const StackActions = ({ name, onStarted, runs, stack }: {
  readonly name: string
  readonly stack: Stack
  /** Whether anything of it runs. */
  readonly runs: boolean
  readonly onStarted: (run: Run) => void
}) => {
  const [asked, setAsked] = useState<Action>()
  const start = useStartRun(onStarted)
  const fitting = actions.filter((
    action
  ) => (runs ? action.name !== "Start" : action.name === "Start" || action.name === "Remove"))
  return (
    <Panel
      title="Stack"
      note={runs ? "it runs" : "nothing of it runs"}
      aside={fitting.map((action) => (
        <Button
          key={action.name}
          look="small"
          disabled={start.isPending}
          onClick={() => setAsked(action)}
        >
          {action.name}
        </Button>
      ))}
    >
      {start.error === null ? null : <Failure error={start.error} />}
      {asked === undefined ? null : (
        <Confirm
          title={`${asked.name} the stack of ${name}?`}
          action={asked.name}
          danger={asked.danger}
          onClose={() => setAsked(undefined)}
          onConfirm={() => {
            setAsked(undefined)
            start.mutate(asked.call(stack))
          }}
        >
          <p>{asked.what}</p>
          <p className="quiet">
            In <code>{stack.remotePath}</code>.
          </p>
        </Confirm>
      )}
    </Panel>
  )
}
