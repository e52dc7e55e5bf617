import { type ReactNode, useCallback, useRef, useState } from "react"
import { Link, useLocation } from "wouter"
import type { Call } from "../../client/index.ts"
import type { ObservedProject, ProjectState } from "../../schema/overview.ts"
import type { LocalProject, ProjectTarget } from "../../schema/projects.ts"
import { isEnded, listRemedies, type Remedy, remedyWords, type Run } from "../../schema/runs.ts"
import { countOmitted } from "../../schema/stacks.ts"
import { findProtectedEnvironment, listDeployPlaces, narrowToPlace } from "../../schema/targets.ts"
import { formatBytes, formatPercent } from "../../schema/words.ts"
import { formatCount, useCall, useContainers, useProjects, useStartRun } from "../service.ts"
import {
  Age,
  Badge,
  Button,
  Empty,
  Failure,
  type IconName,
  Panel,
  toContainerTone,
  useKey,
  Waiting
} from "../ui/components.tsx"
import { Confirm, Menu, useProtection } from "../ui/dialogs.tsx"
import { ContainerUsage } from "../usage/lazyUsage.tsx"
import { DeployDialog } from "./Deploy.tsx"
import {
  buildProjectHref,
  formatPublishedPorts,
  formatRunTitle,
  isReady,
  type ObservedState,
  type usePlan
} from "./state.ts"

interface Stack {
  readonly serverId: string
  readonly remotePath: string
  /** Name of the protected environment that it is. */
  readonly protectedName?: string | undefined
}

interface StackChange {
  readonly serverId: string
  readonly remotePath: string
  readonly confirm?: string
}

interface Action {
  readonly name: string
  readonly icon: IconName
  readonly what: string
  readonly danger: boolean
  readonly call: (payload: StackChange) => Call<unknown>
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
const listFittingActions = (state: ProjectState | undefined, isUp: boolean): ReadonlyArray<string> => {
  if (state === undefined || state === "not deployed" || state === "unknown") return []
  return isUp ? ["Restart", "Stop", "Remove"] : ["Start", "Remove"]
}

const mostShown = 20

const CutList = ({ further, lines, title }: {
  readonly title: string
  readonly lines: ReadonlyArray<string>
  /** Entries that the plan has left out. */
  readonly further: number
}) => {
  const others = Math.max(0, lines.length - mostShown) + further
  return lines.length === 0 ? null : (
    <>
      <p className="strong">{title}</p>
      <ul>
        {lines.slice(0, mostShown).map((line) => <li key={line}>{line}</li>)}
        {others === 0 ? null : <li className="quiet">and {others} more</li>}
      </ul>
    </>
  )
}

/** Lists what the removal of a stack removes and leaves; the removal can be confirmed without it. */
const RemovalPlan = ({ remotePath, serverId }: Pick<Stack, "remotePath" | "serverId">) => {
  // Read anew whenever it is asked for: an earlier list may lack what came since.
  const [openedAt] = useState(Date.now)
  const { data, error } = useCall(
    ["removal-plan", serverId, remotePath, openedAt],
    (berth) => berth.planStackRemoval({ payload: { serverId, remotePath } })
  )
  if (error !== null) return <p className="quiet">The list of what would be removed cannot be read: {error.message}</p>
  if (data === undefined) return <Waiting what="the list of what is removed" />
  const further = (list: string) => countOmitted(data, list)
  return (
    <div role="group" aria-label="What is removed and what stays">
      <CutList
        title="Releases"
        lines={data.releases.map(({ at, id }) => `Release ${id}, deployed ${at}`)}
        further={further("releases")}
      />
      <CutList
        title="Backups"
        lines={data.backups.map(({ bytes, id, items, takenAt }) =>
          `Backup ${id} of ${items.join(", ")}, taken ${takenAt}, ${formatBytes(bytes)}`
        )}
        further={further("backups")}
      />
      <CutList title="Containers" lines={data.containers} further={further("containers")} />
      <CutList title="Files" lines={data.files} further={further("files")} />
      <CutList title="Images" lines={data.images} further={further("images")} />
      <CutList
        title="These stay"
        lines={data.stays.map(({ because, kind, name }) => `${kind} ${name}: ${because}`)}
        further={further("stays")}
      />
    </div>
  )
}

/** Asks to carry out an action on a stack; the name of a protected environment confirms it. */
const ConfirmAction = ({ action, error, isPending, name, onClose, onConfirm, stack }: {
  readonly action: Action
  readonly name: string
  readonly stack: Stack
  readonly isPending: boolean
  readonly error: Error | null
  readonly onClose: () => void
  readonly onConfirm: (change: StackChange) => void
}) => {
  const { protectedName, remotePath, serverId } = stack
  const { confirmation, field, isConfirmed } = useProtection(protectedName)
  return (
    <Confirm
      title={`${action.name} the stack of ${name}?`}
      action={action.name}
      danger={action.danger}
      disabled={isPending || !isConfirmed}
      stays
      onClose={onClose}
      onConfirm={() => onConfirm({ serverId, remotePath, ...confirmation })}
    >
      <p>{action.what}</p>
      <p className="quiet">
        In <code>{remotePath}</code>.
      </p>
      {action.name === "Remove" ? <RemovalPlan serverId={serverId} remotePath={remotePath} /> : null}
      {field}
      <Failure error={error} />
    </Confirm>
  )
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
        <ConfirmAction
          action={asked}
          name={name}
          stack={stack}
          isPending={start.isPending}
          error={start.error}
          onClose={() => setAsked(undefined)}
          onConfirm={(change) => start.mutate(asked.call(change))}
        />
      )}
    </>
  )
}

/** Buttons of a project: deploy it, and the menu of its stack. */
export const ProjectActions = ({ changes, choice, onDeploy, onStarted, plan, project, run, serverId, standing }: {
  readonly project: LocalProject
  readonly serverId: string
  readonly standing: ObservedState
  readonly plan: ReturnType<typeof usePlan>
  readonly changes: number
  /** Run under way. */
  readonly run: Run | undefined
  /** Control that selects one of several targets. */
  readonly choice: ReactNode
  readonly onDeploy: () => void
  readonly onStarted: (run: Run) => void
}) => {
  const { name, remotePath, targets } = project
  const [, go] = useLocation()
  const button = useRef<HTMLButtonElement>(null)
  useKey("d", useCallback(() => button.current?.focus(), []))
  const isBlocked = targets === undefined && (plan.data === undefined || plan.data.obstacles.length > 0)
  const label = () => {
    if (run !== undefined) return `${formatRunTitle(run)} …`
    if (plan.data === undefined) return "Deploy"
    return changes === 0 ? "Deploy again" : `Deploy ${formatCount(changes, "change")}`
  }
  return (
    <>
      {choice}
      <Button
        ref={button}
        icon="play"
        changes
        look="main-action deploy-button"
        disabled={run !== undefined || isBlocked}
        onClick={onDeploy}
      >
        {label()}
        <kbd aria-hidden="true">d</kbd>
      </Button>
      <StackMenu
        label={`More for ${name}`}
        name={name}
        stack={{ serverId, remotePath, protectedName: findProtectedEnvironment(project, { serverId, remotePath }) }}
        state={standing.state}
        isUp={standing.isUp}
        underWay={run !== undefined}
        onStarted={onStarted}
      >
        <Button look="menu-item" icon="servers" onClick={() => go(`/servers/${encodeURIComponent(serverId)}`)}>
          Go to its server
        </Button>
      </StackMenu>
    </>
  )
}

/** Containers of a project, including stopped ones, with their state, ports and usage. */
export const Services = ({ observed, serverId }: {
  readonly observed: ObservedProject | undefined
  readonly serverId: string
}) => {
  const [stack] = observed?.servers ?? []
  const states = stack?.containerStates ?? []
  const running = useContainers(serverId).data?.containers ?? []
  const stats = useCall(["stats", serverId], (berth) => berth.serverStats({ path: { id: serverId } }), {
    enabled: (stack?.containers?.up ?? 0) > 0,
    every: 15_000
  })
  return (
    <Panel
      title="Services"
      note={observed === undefined ? undefined : formatCount(states.length, "container")}
      aside={stack === undefined ? undefined : <Age at={stack.observedAt} before="seen " />}
    >
      {observed !== undefined && states.length === 0
        ? <Empty title="Nothing of it is on the server" icon="box">A deploy starts its services.</Empty>
        : null}
      <ul className="rows services">
        {states.map(({ name, status }) => {
          const ports = formatPublishedPorts(running.filter((container) => container.name === name))
          const used = stats.data?.containers.find((container) => container.name === name)
          return (
            <li key={name}>
              <span className="strong">{name}</span>
              <span>
                <Badge tone={toContainerTone(status)}>{status}</Badge>
              </span>
              <span>{ports === "" ? <span className="quiet">no port</span> : <code>{ports}</code>}</span>
              <span className="numbers quiet">
                {used === undefined
                  ? ""
                  : `${formatPercent(used.cpuPercent)} CPU · ${formatBytes(used.memoryBytes)}`}
              </span>
              <span className="numbers quiet">
                {used === undefined || used.restarts === 0 ? "" : formatCount(used.restarts, "restart")}
              </span>
              <ContainerUsage serverId={serverId} name={name} />
            </li>
          )
        })}
      </ul>
    </Panel>
  )
}

const hrefOf = (remedy: Remedy, { subject: { serverId } }: Run, name: string | undefined): string | undefined => {
  if (remedy === "server") return serverId === undefined ? undefined : `/servers/${encodeURIComponent(serverId)}`
  if (name === undefined) return undefined
  if (remedy === "log") return `${buildProjectHref(name)}#log`
  return buildProjectHref(name, remedy === "releases" ? "runs" : "changes")
}

/** Next actions after a run that did not succeed. */
export const Remedies = ({ onStarted, run }: { readonly run: Run; readonly onStarted: (run: Run) => void }) => {
  const projects = useProjects().data ?? []
  const [asking, setAsking] = useState(false)
  const { projectPath, remotePath, serverId } = run.subject
  const isOfRun = (place: ProjectTarget) => place.serverId === serverId && place.remotePath === remotePath
  const found = projects.find((each) =>
    projectPath === undefined ? listDeployPlaces(each).some(isOfRun) : each.path === projectPath
  )
  const place = found === undefined ? undefined : listDeployPlaces(found).find(isOfRun)
  const project = found === undefined || place === undefined ? found : narrowToPlace(found, place)
  const remedies = isEnded(run.state) ? listRemedies(run) : []
  const shown = remedies.flatMap((remedy) => {
    if (remedy === "again") {
      return project === undefined || !isReady(project) ? [] : [
        <Button key={remedy} icon="again" look="small" changes onClick={() => setAsking(true)}>
          {remedyWords[remedy]}
        </Button>
      ]
    }
    const href = hrefOf(remedy, run, project?.name)
    return href === undefined
      ? []
      : [<Link key={remedy} className="button small" href={href}>{remedyWords[remedy]}</Link>]
  })
  return shown.length === 0 ? null : (
    <div className="remedies" role="group" aria-label="What to do next">
      {shown}
      {asking && project !== undefined
        ? <DeployDialog project={project} onClose={() => setAsking(false)} onStarted={onStarted} />
        : null}
    </div>
  )
}
