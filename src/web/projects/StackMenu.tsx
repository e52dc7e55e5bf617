import { type ReactNode, useState } from "react"
import type { Call } from "../../client/index.ts"
import type { ProjectState } from "../../schema/Overview.ts"
import type { Run } from "../../schema/runs/Run.ts"
import { useStartRun } from "../service/startRun.ts"
import { Button } from "../ui/Button.tsx"
import { Confirm } from "../ui/Confirm.tsx"
import type { IconName } from "../ui/Icon.tsx"
import { Menu } from "../ui/Menu.tsx"
import { Failure } from "../ui/Notes.tsx"

interface Stack {
  readonly serverId: string
  readonly remotePath: string
}

interface Action {
  readonly name: string
  readonly icon: IconName
  readonly what: string
  readonly danger: boolean
  readonly call: (payload: Stack) => Call<unknown>
}

const actions: ReadonlyArray<Action> = [
  {
    name: "Restart",
    icon: "again",
    what: "Its containers are restarted, and Berth waits until they are healthy.",
    danger: false,
    call: (payload) => (berth) => berth.restartStack({ payload })
  },
  {
    name: "Start",
    icon: "play",
    what: "It is started as it was deployed, and Berth waits until it is healthy.",
    danger: false,
    call: (payload) => (berth) => berth.startStack({ payload })
  },
  {
    name: "Stop",
    icon: "stop",
    what: "Its containers stop and are kept: nothing answers until it is started again.",
    danger: true,
    call: (payload) => (berth) => berth.stopStack({ payload })
  },
  {
    name: "Remove",
    icon: "bin",
    what:
      "Its containers and networks are removed, then the files and images that Berth brought. data/ and volumes stay.",
    danger: true,
    call: (payload) => (berth) => berth.removeStack({ payload })
  }
]

/** Actions that fit the state of a stack; none if it is not deployed or its state is unknown. */
export const listFittingActions = (state: ProjectState | undefined, isUp: boolean): ReadonlyArray<string> => {
  if (state === undefined || state === "not deployed" || state === "unknown") return []
  return isUp ? ["Restart", "Stop", "Remove"] : ["Start", "Remove"]
}

/** Menu of a project: further screens, and the actions on its stack. */
export const StackMenu = ({ children, isUp, label, name, onStarted, stack, state, underWay }: {
  readonly label: string
  readonly name: string
  readonly stack: Stack
  readonly state: ProjectState | undefined
  readonly isUp: boolean
  readonly underWay: boolean
  readonly onStarted: (run: Run) => void
  readonly children?: ReactNode
}) => {
  const [asked, setAsked] = useState<Action>()
  const start = useStartRun((run) => {
    setAsked(undefined)
    onStarted(run)
  })
  const fitting = listFittingActions(state, isUp)
  return (
    <>
      <Menu label={label}>
        {children}
        {actions.filter((action) => fitting.includes(action.name)).map((action) => (
          <Button
            key={action.name}
            look="menu-item"
            icon={action.icon}
            changes
            disabled={start.isPending || underWay}
            onClick={() => {
              start.reset()
              setAsked(action)
            }}
          >
            {action.name}
          </Button>
        ))}
      </Menu>
      {asked === undefined ? null : (
        <Confirm
          title={`${asked.name} the stack of ${name}?`}
          action={asked.name}
          danger={asked.danger}
          disabled={start.isPending}
          stays
          onClose={() => setAsked(undefined)}
          onConfirm={() => start.mutate(asked.call(stack))}
        >
          <p>{asked.what}</p>
          <p className="quiet">
            In <code>{stack.remotePath}</code>.
          </p>
          <Failure error={start.error} />
        </Confirm>
      )}
    </>
  )
}
