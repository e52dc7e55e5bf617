import { useCallback, useEffect, useRef, useState } from "react"
import { Route, Switch, useLocation } from "wouter"
import { Applications } from "../applications/Applications.tsx"
import { DeclaredApplication } from "../applications/DeclaredApplication.tsx"
import { LiveApplication } from "../applications/LiveApplication.tsx"
import { Overview } from "../overview/Overview.tsx"
import { Project } from "../projects/Project.tsx"
import { Routes } from "../routes/Routes.tsx"
import { Activity } from "../runs/Activity.tsx"
import { RunScreen } from "../runs/RunScreen.tsx"
import { Server } from "../servers/Server.tsx"
import { Servers } from "../servers/Servers.tsx"
import { useHealth } from "../service/queries.ts"
import { onSessionEnded, ServiceFailure } from "../service/ServiceFailure.ts"
import { Head } from "../ui/Head.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Empty } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { Webhooks } from "../webhooks/Webhooks.tsx"
import { Brand } from "./Brand.tsx"
import { Goto } from "./Goto.tsx"
import { LogIn } from "./LogIn.tsx"
import { Offline } from "./Offline.tsx"
import { Palette } from "./Palette.tsx"
import { Sidebar } from "./Sidebar.tsx"

const Screens = () => (
  <Switch>
    <Route path="/">
      <Overview />
    </Route>
    <Route path="/projects/:name">{({ name }) => <Project key={name} name={decodeURIComponent(name)} />}</Route>
    <Route path="/activity">
      <Activity />
    </Route>
    <Route path="/activity/:id">{({ id }) => <RunScreen key={id} id={id} />}</Route>
    <Route path="/servers">
      <Servers />
    </Route>
    <Route path="/servers/:id">{({ id }) => <Server key={id} id={decodeURIComponent(id)} />}</Route>
    <Route path="/applications">
      <Applications />
    </Route>
    <Route path="/applications/:project/:name">
      {({ name, project }) => (
        <DeclaredApplication
          key={`${project} ${name}`}
          projectName={decodeURIComponent(project)}
          appName={decodeURIComponent(name)}
        />
      )}
    </Route>
    <Route path="/applications/:uuid">
      {({ uuid }) => <LiveApplication key={uuid} uuid={decodeURIComponent(uuid)} />}
    </Route>
    <Route path="/routes">
      <Routes />
    </Route>
    <Route path="/webhooks">
      <Webhooks />
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

/** The page: where one can go at its side, and the screen that was chosen. */
export const App = () => {
  const [lockedOut, setLockedOut] = useState(false)
  const [open, setOpen] = useState(false)
  const [searching, setSearching] = useState(false)
  const [place] = useLocation()
  const main = useRef<HTMLElement>(null)
  const health = useHealth()
  const search = useCallback(() => setSearching(true), [])
  useEffect(() => onSessionEnded(() => setLockedOut(true)), [])
  useEffect(() => {
    setOpen(false)
    scrollTo(0, 0)
  }, [place])
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
  return (
    <>
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
      <div className="shell">
        <Sidebar open={open} onSearch={search} version={health.data?.version} />
        <main className="main" id="screen" ref={main} tabIndex={-1}>
          {offline ? <Offline since={health.dataUpdatedAt} again={health.refetch} /> : null}
          <Screens />
        </main>
      </div>
      {searching ? <Palette onClose={() => setSearching(false)} /> : null}
    </>
  )
}
