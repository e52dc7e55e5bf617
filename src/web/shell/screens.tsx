import { Route, Switch } from "wouter"
import { navigate } from "wouter/use-browser-location"
import type { LocalProject } from "../../schema/projects.ts"
import type { Run } from "../../schema/runs.ts"
import { buildApplicationHref } from "../applications/Drift.tsx"
import { decodeSegment } from "../browser.ts"
import { Remedies } from "../projects/Actions.tsx"
import { Project } from "../projects/Project.tsx"
import { buildProjectHref, isReady } from "../projects/state.ts"
import { useOverview, useProjects, useServers } from "../service.ts"
import { Home } from "../start/Home.tsx"
import { Empty, Head, type IconName, lazyComponent, Panel } from "../ui/components.tsx"

// Users open the overview and projects first; any other screen loads on first use.
const Activity = lazyComponent("The activity", () => import("../runs/Activity.tsx").then((part) => part.Activity))
const Applications = lazyComponent(
  "The applications",
  () => import("../applications/Applications.tsx").then((part) => part.Applications)
)
const DeclaredApplication = lazyComponent(
  "The application",
  () => import("../applications/DeclaredApplication.tsx").then((part) => part.DeclaredApplication)
)
const LiveApplication = lazyComponent(
  "The application",
  () => import("../applications/LiveApplication.tsx").then((part) => part.LiveApplication)
)
const LogScreen = lazyComponent("The logs", () => import("../logs/LogScreen.tsx").then((part) => part.LogScreen))
const Routes = lazyComponent("The routes", () => import("../routes/Routes.tsx").then((part) => part.Routes))
const RunScreen = lazyComponent("The run", () => import("../runs/RunScreen.tsx").then((part) => part.RunScreen))
const Server = lazyComponent("The server", () => import("../servers/Server.tsx").then((part) => part.Server))
const Servers = lazyComponent("The servers", () => import("../servers/Servers.tsx").then((part) => part.Servers))
const SettingsScreen = lazyComponent(
  "The settings",
  () => import("../settings/SettingsScreen.tsx").then((part) => part.SettingsScreen)
)
const Webhooks = lazyComponent("The webhooks", () => import("../webhooks/Webhooks.tsx").then((part) => part.Webhooks))

const openRun = ({ id }: Run) => navigate(`/activity/${id}`)

/** Screen that the address names. */
export const RoutedScreen = () => (
  <Switch>
    <Route path="/">
      <Home />
    </Route>
    <Route path="/projects/:name/:tab?">
      {({ name, tab }) => <Project key={name} name={decodeSegment(name)} tab={tab} />}
    </Route>
    <Route path="/activity">
      <Activity />
    </Route>
    <Route path="/activity/:id">
      {({ id }) => <RunScreen key={id} id={id} next={(run) => <Remedies run={run} onStarted={openRun} />} />}
    </Route>
    <Route path="/logs">
      <LogScreen />
    </Route>
    <Route path="/servers">
      <Servers />
    </Route>
    <Route path="/servers/:id">{({ id }) => <Server key={id} id={decodeSegment(id)} />}</Route>
    <Route path="/applications">
      <Applications />
    </Route>
    <Route path="/applications/:project/:name">
      {({ name, project }) => (
        <DeclaredApplication
          key={`${project} ${name}`}
          projectName={decodeSegment(project)}
          appName={decodeSegment(name)}
        />
      )}
    </Route>
    <Route path="/applications/:uuid">
      {({ uuid }) => <LiveApplication key={uuid} uuid={decodeSegment(uuid)} />}
    </Route>
    <Route path="/routes">
      <Routes />
    </Route>
    <Route path="/webhooks">
      <Webhooks />
    </Route>
    <Route path="/settings">
      <SettingsScreen />
    </Route>
    <Route>
      <div className="page">
        <Head title="Nothing here" />
        <Panel title="No such screen">
          <Empty title="This address leads nowhere">Ctrl K goes anywhere.</Empty>
        </Panel>
      </div>
    </Route>
  </Switch>
)

/** Screens of the menu. */
export const screens: ReadonlyArray<readonly [name: string, href: string, icon: IconName]> = [
  ["Overview", "/", "overview"],
  ["Activity", "/activity", "activity"],
  ["Logs", "/logs", "logs"],
  ["Servers", "/servers", "servers"],
  ["Applications", "/applications", "applications"],
  ["Routes", "/routes", "routes"],
  ["Webhooks", "/webhooks", "webhooks"],
  ["Settings", "/settings", "settings"]
]

/** Choice of the palette: a place, or a verb with its project. */
export interface PaletteChoice {
  readonly name: string
  readonly kind: string
  readonly href: string
  /** Project to deploy after a confirmation, instead of opening `href`. */
  readonly deploys?: LocalProject
}

const mostShown = 40

/** Ranks prefix matches before substring matches, and places before verbs. */
export const rankPlaces = (places: ReadonlyArray<PaletteChoice>, words: string): ReadonlyArray<PaletteChoice> => {
  const wanted = words.trim().toLowerCase().replaceAll(/\s+/g, " ")
  const begins = ({ name }: PaletteChoice) => name.toLowerCase().startsWith(wanted)
  const holding = places.filter(({ name }) => name.toLowerCase().includes(wanted))
  return [...holding.filter(begins), ...holding.filter((place) => !begins(place))].slice(0, mostShown)
}

const verbsFor = (project: LocalProject): ReadonlyArray<PaletteChoice> =>
  !isReady(project) ? [] : [
    { name: `deploy ${project.name}`, kind: "action", href: buildProjectHref(project.name), deploys: project },
    { name: `logs ${project.name}`, kind: "action", href: `${buildProjectHref(project.name)}#log` },
    { name: `changes ${project.name}`, kind: "action", href: buildProjectHref(project.name, "changes") },
    { name: `roll back ${project.name}`, kind: "action", href: buildProjectHref(project.name, "runs") }
  ]

/** Screens, projects, applications and servers, and the actions on projects. */
export const usePlaces = (): ReadonlyArray<PaletteChoice> => {
  const projects = useProjects().data ?? []
  const servers = useServers().data ?? []
  const overview = useOverview().data
  return [
    ...screens.map(([name, href]) => ({ name, kind: "screen", href })),
    ...projects.map(({ name }) => ({ name, kind: "project", href: buildProjectHref(name) })),
    ...overview?.applications.map((application) => ({
      name: application.name,
      kind: "application",
      href: buildApplicationHref(application, overview.projects)
    })) ?? [],
    ...servers.map(({ id, name }) => ({ name, kind: "server", href: `/servers/${encodeURIComponent(id)}` })),
    ...projects.flatMap(verbsFor)
  ]
}
