import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react"
import { Route, Switch, useLocation } from "wouter"
import { navigate } from "wouter/use-browser-location"
import type { LocalProject } from "../../schema/projects/Project.ts"
import type { Run } from "../../schema/runs/Run.ts"
import { decodeSegment } from "../browser/decodeSegment.ts"
import { DeployDialog } from "../projects/DeployDialog.tsx"
import { Project } from "../projects/Project.tsx"
import { projectHref } from "../projects/projectHref.ts"
import { Remedies } from "../projects/Remedies.tsx"
import { useHeartbeat, useSession } from "../service/queries.ts"
import { ServiceFailure, subscribeSessionEnded } from "../service/ServiceFailure.ts"
import { Home } from "../start/Home.tsx"
import { Boundary } from "../ui/Boundary.tsx"
import { Head } from "../ui/Head.tsx"
import { Icon } from "../ui/Icon.tsx"
import { later } from "../ui/later.tsx"
import { Empty } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { Refusal } from "../ui/Refusal.ts"
import { Brand } from "./Brand.tsx"
import { BusyTab } from "./BusyTab.tsx"
import { Goto } from "./Goto.tsx"
import { LogIn } from "./LogIn.tsx"
import { Offline } from "./Offline.tsx"
import { Sidebar } from "./Sidebar.tsx"
import { Upgraded } from "./Upgraded.tsx"

// The overview and a project are what people open first; any other screen loads with its first use.
const Activity = later("The activity", () => import("../runs/Activity.tsx").then((part) => part.Activity))
const Applications = later(
  "The applications",
  () => import("../applications/Applications.tsx").then((part) => part.Applications)
)
const DeclaredApplication = later(
  "The application",
  () => import("../applications/DeclaredApplication.tsx").then((part) => part.DeclaredApplication)
)
const LiveApplication = later(
  "The application",
  () => import("../applications/LiveApplication.tsx").then((part) => part.LiveApplication)
)
const LogScreen = later("The logs", () => import("../logs/LogScreen.tsx").then((part) => part.LogScreen))
const Palette = later("The palette", () => import("./Palette.tsx").then((part) => part.Palette))
const Routes = later("The routes", () => import("../routes/Routes.tsx").then((part) => part.Routes))
const RunScreen = later("The run", () => import("../runs/RunScreen.tsx").then((part) => part.RunScreen))
const Server = later("The server", () => import("../servers/Server.tsx").then((part) => part.Server))
const Servers = later("The servers", () => import("../servers/Servers.tsx").then((part) => part.Servers))
const SettingsScreen = later(
  "The settings",
  () => import("../settings/SettingsScreen.tsx").then((part) => part.SettingsScreen)
)
const Webhooks = later("The webhooks", () => import("../webhooks/Webhooks.tsx").then((part) => part.Webhooks))

const openRun = ({ id }: Run) => navigate(`/activity/${id}`)

const Screens = () => (
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

/** Page with the sidebar and the routed screen. */
export const App = () => {
  const [lockedOut, setLockedOut] = useState(false)
  const [open, setOpen] = useState(false)
  const [searching, setSearching] = useState(false)
  const [deploying, setDeploying] = useState<LocalProject>()
  const [place, go] = useLocation()
  const main = useRef<HTMLElement>(null)
  // The tabs of a project are one screen, which keeps its run and its place.
  const screen = place.split("/").slice(0, 3).join("/")
  const health = useHeartbeat()
  const { data: caller } = useSession()
  const search = useCallback(() => setSearching(true), [])
  useEffect(() => subscribeSessionEnded(() => setLockedOut(true)), [])
  // Before the screen is drawn, and before a part of it scrolls to what its address names.
  useLayoutEffect(() => {
    scrollTo(0, 0)
  }, [screen])
  useEffect(() => setOpen(false), [place])
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      setSearching((on) => !on)
    }
    addEventListener("keydown", listen)
    return () => removeEventListener("keydown", listen)
  }, [])
  if (lockedOut) return <LogIn onDone={() => setLockedOut(false)} />
  const offline = health.error instanceof ServiceFailure && health.error.status === 0
  const refusal = offline
    ? "Berth does not answer"
    : caller?.role === "viewer"
    ? "Your token may only look: this is for operators"
    : undefined
  return (
    <Refusal value={refusal}>
      <BusyTab />
      <a className="skip" href="#screen" onClick={() => main.current?.focus()}>Skip to the screen</a>
      <header className="bar">
        <Brand />
        <Goto onOpen={search} />
        <button
          type="button"
          className="icon-button"
          aria-label="Menu"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          <Icon name="menu" />
        </button>
      </header>
      <div className={offline ? "shell stale" : "shell"}>
        <Sidebar open={open} onSearch={search} version={health.data?.version} />
        <main className="main" id="screen" ref={main} tabIndex={-1}>
          {offline ? <Offline since={health.dataUpdatedAt} again={health.refetch} /> : null}
          <Upgraded to={health.data?.version} />
          <Boundary key={screen} what="This screen">
            <Screens />
          </Boundary>
        </main>
      </div>
      {searching ? <Palette onClose={() => setSearching(false)} onDeploy={setDeploying} /> : null}
      {deploying === undefined
        ? null
        : (
          <DeployDialog
            project={deploying}
            onClose={() => setDeploying(undefined)}
            onStarted={() => go(projectHref(deploying.name))}
          />
        )}
    </Refusal>
  )
}
