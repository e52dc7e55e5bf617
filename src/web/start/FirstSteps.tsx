import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { type FormEvent, type ReactNode, useEffect, useState } from "react"
import { Link, useLocation } from "wouter"
import type { FirstStep } from "../../schema/overview.ts"
import type { LocalProject } from "../../schema/projects.ts"
import type { Server } from "../../schema/servers.ts"
import type { ListedSetting, ProjectsRoot } from "../../schema/settingsList.ts"
import { buildProjectHref, isReady } from "../projects/state.ts"
import { PrepareProject } from "../projects/Unready.tsx"
import { ServerForm } from "../servers/form/ServerForm.tsx"
import { useServerForm } from "../servers/form/useServerForm.ts"
import { call, formatCount, isStored, useProjects, useServers, useSettings } from "../service.ts"
import { FileChange, filterByGroup, optionalParts, SettingsForm } from "../settings/SettingsScreen.tsx"
import { Button, Empty, Failure, Field, Head, Icon, Panel, Waiting } from "../ui/components.tsx"

const Part = ({ part, settings }: {
  readonly part: typeof optionalParts[number]
  readonly settings: ReadonlyArray<ListedSetting>
}) => {
  const [open, setOpen] = useState(false)
  const own = filterByGroup(part, settings)
  return (
    <Panel
      title={part.title}
      note={own.some(isStored) ? "set up" : "optional"}
      aside={
        <Button look="small" onClick={() => setOpen(!open)}>
          {open ? "Close" : "Set up"}
          <span className="unseen">{part.title}</span>
        </Button>
      }
    >
      <p className="body quiet">{part.about}</p>
      {open ? <SettingsForm label={part.title} settings={own} /> : null}
    </Panel>
  )
}

/** Settings that a fresh installation does not need, by group. */
const OptionalParts = ({ settings }: { readonly settings: ReadonlyArray<ListedSetting> }) => (
  <section className="optional-parts" aria-label="Optional parts">
    {optionalParts.map((part) => <Part key={part.title} part={part} settings={settings} />)}
  </section>
)

const typingMillis = 250

/** Debounces a typed text. */
const useTyped = (text: string): string => {
  const [typed, setTyped] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setTyped(text), typingMillis)
    return () => clearTimeout(timer)
  }, [text])
  return typed
}

/** Plans a change of the projects root: state of the directory, and change of the settings file. */
const useRootPlan = (root: string, enabled: boolean) =>
  useQuery({
    queryKey: ["settings", "projects.root", root],
    queryFn: ({ signal }) =>
      call(
        (berth) =>
          berth.changeSettings({ payload: { settings: { "projects.root": root } }, urlParams: { plan: "true" } }),
        signal
      ),
    enabled: enabled && root.trim() !== "",
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 0
  })

const describeRoot = ({ path, projects, standing }: ProjectsRoot) => {
  switch (standing) {
    case "usable":
      return { tone: "good", words: `${path} has ${formatCount(projects, "project")}.` }
    case "missing":
      return { tone: "warn", words: `${path} does not exist yet: Berth can create it.` }
    case "not a directory":
      return { tone: "bad", words: `${path} is not a directory.` }
    case "unreadable":
      return { tone: "bad", words: `${path} cannot be read by the user that runs Berth.` }
  }
}

/** Explains why this caller may not set the projects root, and the command that sets it on the machine. */
const Refused = ({ refusal }: { readonly refusal: string }) => (
  <div className="note warn">
    <span className="grow">
      This cannot be set from here. {refusal}. On the machine that Berth runs on:{" "}
      <code>berth settings set projects.root ~/projects --create</code>
    </span>
  </div>
)

/** Form for the projects root: checks the directory while the user types, and creates it if it is missing. */
const ProjectsStep = (
  { onDone, setting }: { readonly setting: ListedSetting; readonly onDone: () => void }
) => {
  const [root, setRoot] = useState(typeof setting.value === "string" ? setting.value : "~/projects")
  const queries = useQueryClient()
  const typed = useTyped(root)
  const plan = useRootPlan(typed, setting.refusal === null)
  const { error, isPending, mutate } = useMutation({
    mutationFn: () =>
      call((berth) =>
        berth.changeSettings({
          payload: { settings: { "projects.root": root }, createDirectory: true },
          urlParams: {}
        })
      ),
    onSuccess: async () => {
      onDone()
      await queries.invalidateQueries()
    }
  })
  if (setting.refusal !== null) return <Refused refusal={setting.refusal} />
  const found = plan.error === null ? plan.data?.projectsRoot : undefined
  const standing = found === undefined ? undefined : describeRoot(found)
  const isChecked = typed === root && !plan.isFetching && standing !== undefined && standing.tone !== "bad"
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isChecked) mutate()
  }
  return (
    <form onSubmit={submit}>
      <div className="step-body">
        <Field
          label="Directory of the projects"
          help="A project is a directory in it with a Dockerfile or a compose file"
        >
          <input
            value={root}
            required
            spellCheck={false}
            autoComplete="off"
            onChange={({ target }) => setRoot(target.value)}
          />
        </Field>
        <p role="status" className={standing?.tone ?? "quiet"}>{standing?.words ?? "Looking …"}</p>
        {plan.data === undefined || !isChecked ? null : <FileChange change={plan.data} />}
        <Failure error={plan.error} />
        <Failure error={error} />
      </div>
      <div className="settings-foot">
        <Button type="submit" changes look="main-action" disabled={!isChecked || isPending}>
          {found?.standing === "missing" ? "Create it and use it" : "Use it"}
        </Button>
      </div>
    </form>
  )
}

/** Chooses a project and its server; the project's screen then builds the image and deploys it. */
const ProjectStep = ({ projects, root, servers }: {
  readonly root: string
  readonly projects: ReadonlyArray<LocalProject>
  readonly servers: ReadonlyArray<Server>
}) => {
  const [, go] = useLocation()
  const [path, setPath] = useState(projects[0]?.path)
  const project = projects.find((each) => each.path === path) ?? projects[0]
  if (project === undefined) {
    return (
      <Empty title="No project yet">
        Put one there: a directory in <code>{root}</code> with a Dockerfile or a compose file. It shows here by itself.
      </Empty>
    )
  }
  return (
    <>
      <div className="step-body">
        <Field label="Project">
          <select value={project.path} onChange={({ target }) => setPath(target.value)}>
            {projects.map(({ name, path }) => <option key={path} value={path}>{name}</option>)}
          </select>
        </Field>
      </div>
      {isReady(project)
        ? (
          <div className="settings-foot">
            <p className="quiet grow">It has what a deploy needs.</p>
            <Link className="button main-action" href={buildProjectHref(project.name)}>Deploy {project.name}</Link>
          </div>
        )
        : (
          <PrepareProject
            key={project.path}
            project={project}
            servers={servers}
            onPrepared={() => go(buildProjectHref(project.name))}
          />
        )}
    </>
  )
}

/** State of a step; `later` waits for the previous step. */
type StepState = "done" | "now" | "later"

const words = { done: "done", now: "next", later: "later" } as const

/** Panel of a first step: its content while it is next, a summary once it is done. */
const StepPanel = ({ aside, children, number, state, summary, title }: {
  readonly number: number
  readonly title: string
  readonly state: StepState
  readonly summary?: ReactNode
  readonly aside?: ReactNode
  readonly children: ReactNode
}) => (
  <li className={`first-step ${state}`}>
    <section className="panel" aria-label={title} aria-current={state === "now" ? "step" : undefined}>
      <header>
        <span className="first-step-mark">
          {state === "done" ? <Icon name="check" /> : number}
          <span className="unseen">{words[state]}</span>
        </span>
        <h2>{title}</h2>
        {state === "done" ? <span className="quiet grow">{summary}</span> : null}
        {aside === undefined ? null : <div className="aside">{aside}</div>}
      </header>
      {state === "now" ? children : null}
    </section>
  </li>
)

/** Adds the first server in place. */
const ServerStep = () => {
  const queries = useQueryClient()
  const state = useServerForm({ onStored: () => queries.invalidateQueries() })
  return <ServerForm state={state} />
}

/** States of the three steps. */
const statesOf = (next: FirstStep, hasServer: boolean): readonly [StepState, StepState, StepState] =>
  next === "projects"
    ? ["now", hasServer ? "done" : "later", "later"]
    : next === "deploy"
    ? ["done", "done", "now"]
    : ["done", "now", "later"]

/** First steps of a fresh installation; shown instead of the overview. */
export const FirstSteps = ({ next, onSkip }: { readonly next: FirstStep; readonly onSkip: () => void }) => {
  const settings = useSettings()
  const projects = useProjects().data ?? []
  const servers = useServers().data ?? []
  const [editsRoot, setEditsRoot] = useState(false)
  const [first, second, third] = statesOf(editsRoot ? "projects" : next, servers.length > 0)
  const root = settings.data?.settings.find(({ name }) => name === "projects.root")
  const rootPath = typeof root?.value === "string" ? root.value : ""
  return (
    <div className="page">
      <Head title="First steps" actions={<Button onClick={onSkip}>Show the overview</Button>}>
        <p className="quiet">Three steps to a first deploy. Each shows what it writes before it does.</p>
      </Head>
      <ol className="first-steps">
        <StepPanel
          number={1}
          title="Where are your projects?"
          state={first}
          summary={
            <>
              <code>{rootPath}</code> · {formatCount(projects.length, "project")}
            </>
          }
          aside={first === "done" ? <Button look="small" onClick={() => setEditsRoot(true)}>Change</Button> : undefined}
        >
          <Failure error={settings.error} again={settings.refetch} />
          {root === undefined
            ? settings.error === null ? <Waiting what="the settings" /> : null
            : <ProjectsStep setting={root} onDone={() => setEditsRoot(false)} />}
        </StepPanel>
        <StepPanel
          number={2}
          title="Add a server"
          state={second}
          summary={servers.map(({ name }) => name).join(", ")}
        >
          <ServerStep />
        </StepPanel>
        <StepPanel number={3} title="Pick a project" state={third}>
          <ProjectStep projects={projects} servers={servers} root={rootPath} />
        </StepPanel>
      </ol>
      {settings.data === undefined ? null : <OptionalParts settings={settings.data.settings} />}
    </div>
  )
}
