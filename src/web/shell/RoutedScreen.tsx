import { Route, Switch } from "wouter"
import { navigate } from "wouter/use-browser-location"
import type { Run } from "../../schema/runs/Run.ts"
import { decodeSegment } from "../browser/decodeSegment.ts"
import { Project } from "../projects/Project.tsx"
import { Remedies } from "../projects/Remedies.tsx"
import { Home } from "../start/Home.tsx"
import { Head } from "../ui/Head.tsx"
import { lazyComponent } from "../ui/lazyComponent.tsx"
import { Empty } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"

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
