import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useVirtualizer } from "@tanstack/react-virtual"
import { Redacted } from "effect"
import { type FormEvent, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react"
import { Link, useLocation } from "wouter"
import type { LocalProject } from "../../schema/projects.ts"
import { findFinalMessage, isEnded, type Run } from "../../schema/runs.ts"
import { version } from "../../schema/session.ts"
import { setBusyTitle } from "../browser.ts"
import { DeployDialog } from "../projects/Deploy.tsx"
import { buildProjectHref, parseProjectName, toProjectTone, useChanges } from "../projects/state.ts"
import { describeRun, describeRunOutcome, useEndNotices } from "../runs/RunPanel.tsx"
import {
  call,
  notifySessionEnded,
  queryClient,
  readTicketFailure,
  ServiceFailure,
  subscribeSessionEnded,
  useHeartbeat,
  useNewestRuns,
  useOverview,
  useProjects,
  useSession,
  useUnderWay
} from "../service.ts"
import {
  Age,
  Boundary,
  Button,
  Failure,
  Field,
  Icon,
  lazyComponent,
  ReadOnlyReason,
  type Tone
} from "../ui/components.tsx"
import { RoutedScreen, screens } from "./screens.tsx"

/** Product name, linked to the overview. */
const Brand = () => (
  <Link href="/" className="brand">
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#1557d6" />
      <g fill="none" stroke="#fff" strokeWidth="2" strokeLinejoin="round" strokeLinecap="round">
        <path d="M13 8h5v4h-5zM9.500 12h5v4.500h-5zM17.500 12h5v4.500h-5z" />
        <path d="M6.500 17h19l-2.500 5.500H9z" />
        <path d="M7 25.500c2 0 2-1 4.500-1s2.500 1 4.500 1 2-1 4.500-1 2.500 1 4.500 1" />
      </g>
    </svg>
    Berth
  </Link>
)

/** Authenticated caller, with the log-out button. */
const Caller = () => {
  const { data } = useSession()
  const queries = useQueryClient()
  const { mutate } = useMutation({
    mutationFn: () => call((berth) => berth.closeSession()),
    onSettled: () => {
      queries.clear()
      notifySessionEnded()
    }
  })
  if (data === undefined) return null
  return (
    <span className="caller" title={`${data.name}, ${data.role}`}>
      {data.role === "viewer" ? `${data.name}, may only look` : data.name}
      {data.expiresAt === null
        ? null
        : <button type="button" className="text-button" onClick={() => mutate()}>Log out</button>}
    </span>
  )
}

/** Button that opens the command palette. */
const OpenPalette = ({ onOpen }: { readonly onOpen: () => void }) => (
  <button type="button" className="goto" onClick={onOpen}>
    <Icon name="search" />
    <span className="grow">Go to …</span>
    <kbd>Ctrl K</kbd>
  </button>
)

const height = 36

const words: Readonly<Record<Tone, string>> = {
  good: "runs",
  warn: "is stopped or differs",
  bad: "is not well",
  busy: "is being deployed",
  idle: ""
}

const Row = ({ isHere, project, start, tone }: {
  readonly project: LocalProject
  readonly tone: Tone
  readonly start: number
  readonly isHere: boolean
}) => {
  const changes = useChanges(project) ?? 0
  const shown = tone === "good" && changes > 0 ? "warn" : tone
  return (
    <Link
      className="project-link"
      href={buildProjectHref(project.name)}
      aria-current={isHere ? "page" : undefined}
      style={{ transform: `translateY(${start}px)` }}
    >
      <span className={`dot ${shown === "idle" ? project.serverId === null ? "none" : "idle" : shown}`} />
      <span className="name">{project.name}</span>
      <span className="unseen">{words[shown]}</span>
      {changes === 0 ? null : (
        <span className="count">
          {changes}
          <span className="unseen">changes</span>
        </span>
      )}
    </Link>
  )
}

/** Projects with their state. */
const SideProjects = () => {
  const { data: known } = useProjects()
  const data = known ?? []
  const overview = useOverview()
  const [place] = useLocation()
  const here = parseProjectName(place)
  const frame = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: data.length,
    getScrollElement: () => frame.current,
    estimateSize: () => height,
    overscan: 6
  })
  const observed = new Map(overview.data?.projects.map((project) => [project.path, project]))
  return (
    <>
      <div className="side-title">
        Projects {known === undefined ? null : <span className="numbers">{known.length}</span>}
      </div>
      <nav className="side-projects" ref={frame} aria-label="Projects">
        <div style={{ height: rows.getTotalSize(), position: "relative" }}>
          {rows.getVirtualItems().map(({ index, start }) => {
            const project = data[index]
            return project === undefined ? null : (
              <Row
                key={project.path}
                project={project}
                start={start}
                tone={toProjectTone(observed.get(project.path))}
                isHere={project.name === here}
              />
            )
          })}
        </div>
      </nav>
    </>
  )
}

const key = "berth-theme"

/** Theme chosen by the user; defaults to the system's. */
type Theme = "light" | "dark"

const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches

const readTheme = (): Theme => {
  const chosen = localStorage.getItem(key)
  return chosen === "light" || chosen === "dark" ? chosen : isDark() ? "dark" : "light"
}

/** Restores the stored theme. */
export const applyTheme = (): void => {
  const chosen = localStorage.getItem(key)
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset["theme"] = chosen
}

/** Toggles the theme and stores it in the browser. */
const toggleTheme = (): Theme => {
  const next = readTheme() === "dark" ? "light" : "dark"
  localStorage.setItem(key, next)
  document.documentElement.dataset["theme"] = next
  return next
}

/** Navigation: screens, and projects with their state. */
const Sidebar = ({ onSearch, open, version }: {
  readonly open: boolean
  readonly onSearch: () => void
  readonly version: string | undefined
}) => {
  const [place] = useLocation()
  const [theme, setTheme] = useState(readTheme)
  const running = useUnderWay().length
  const isHere = (href: string) => place === href || (href !== "/" && place.startsWith(`${href}/`))
  return (
    <aside className="side" data-open={open} aria-label="Where to go">
      <Brand />
      <OpenPalette onOpen={onSearch} />
      <nav className="menu" aria-label="Screens">
        {screens.map(([name, href, icon]) => (
          <Link key={href} href={href} aria-current={isHere(href) ? "page" : undefined}>
            <Icon name={icon} />
            {name}
            {name === "Activity" && running > 0
              ? (
                <span className="count busy">
                  {running}
                  <span className="unseen">under way</span>
                </span>
              )
              : null}
          </Link>
        ))}
      </nav>
      <SideProjects />
      <div className="side-foot">
        <span>Berth {version ?? "…"}</span>
        <Caller />
        <button
          type="button"
          className="icon-button"
          aria-label={theme === "dark" ? "Light colours" : "Dark colours"}
          onClick={() => setTheme(toggleTheme())}
        >
          <Icon name={theme === "dark" ? "sun" : "moon"} />
        </button>
      </div>
    </aside>
  )
}

const notify = (run: Run) => {
  const [body = ""] = findFinalMessage(run)?.split("\n") ?? []
  const notice = new Notification(`${describeRun(run)}: ${describeRunOutcome(run).word}`, { body, tag: run.id })
  notice.addEventListener("click", () => window.focus())
}

/**
 * Shows the current run in the title and icon of the browser's tab, and notifies of its end if the user has turned that
 * on.
 */
const BusyTab = () => {
  const isNotifying = useEndNotices()
  const newest = useNewestRuns({ inBackground: isNotifying })
  const runs = newest.filter(({ state }) => !isEnded(state))
  const [run] = runs
  const words = run === undefined ? "" : runs.length === 1 ? describeRun(run) : `${runs.length} runs`
  useEffect(() => {
    setBusyTitle(words)
    return () => setBusyTitle("")
  }, [words])
  const watched = useRef<ReadonlySet<string>>(new Set())
  useEffect(() => {
    const ended = newest.filter(({ id, parent, state }) =>
      // Skips runs with a parent: it ends later and reports all of them.
      parent === undefined && isEnded(state) && watched.current.has(id)
    )
    watched.current = new Set(newest.filter(({ state }) => !isEnded(state)).map(({ id }) => id))
    if (isNotifying) ended.forEach(notify)
  }, [newest, isNotifying])
  return null
}

/** Log-in form for the token that the settings require. */
const LogIn = ({ onDone }: { readonly onDone: () => void }) => {
  const [token, setToken] = useState("")
  const [failure, setFailure] = useState<Error | undefined>(readTicketFailure)
  const [busy, setBusy] = useState(false)
  const logIn = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    try {
      await call((berth) => berth.openSession({ payload: { token: Redacted.make(token) } }))
      onDone()
      await queryClient.resetQueries()
    } catch (cause) {
      setFailure(cause instanceof Error ? new Error(`This token is not accepted. ${cause.message}`) : undefined)
    }
    setBusy(false)
  }
  return (
    <main className="login">
      <div className="panel">
        <form onSubmit={(event) => void logIn(event)}>
          <Brand />
          <h1>Log in</h1>
          <Field
            label="Token"
            help="An operator of the service makes one: berth token add. On its machine, berth open logs in without one. This page does not keep it."
          >
            <input
              type="password"
              autoComplete="current-password"
              required
              value={token}
              onChange={(event) => setToken(event.target.value)}
            />
          </Field>
          <Button type="submit" look="main-action" disabled={busy || token === ""}>Log in</Button>
        </form>
        <Failure error={failure} />
      </div>
    </main>
  )
}

/** Banner for an unreachable service, with the age of the displayed data. */
const Offline = ({ again, since }: { readonly since: number; readonly again: () => unknown }) => (
  <div className="offline" role="alert">
    <Icon name="alert" />
    <span className="grow">
      Berth does not answer. {since === 0 ? "It is asked again by itself." : (
        <>
          What is shown here is stale; it was seen <Age at={since} />.
        </>
      )}
    </span>
    <Button look="small" onClick={again}>Try now</Button>
  </div>
)

/** Banner for a page whose version differs from the service's: parts that the page loads later may be gone. */
const Upgraded = ({ to }: { readonly to: string | undefined }) =>
  to === undefined || to === version ? null : (
    <div className="offline" role="alert">
      <Icon name="alert" />
      <span className="grow">Berth is version {to} now, and this page is of version {version}.</span>
      <Button look="small" icon="again" onClick={() => location.reload()}>Reload the page</Button>
    </div>
  )

const Palette = lazyComponent("The palette", () => import("./Palette.tsx").then((part) => part.Palette))

/** Palette, which Ctrl K opens and closes, and the deploy that is chosen in it. */
const useSearch = () => {
  const [isOpen, setOpen] = useState(false)
  const [deploying, setDeploying] = useState<LocalProject>()
  const [, go] = useLocation()
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      setOpen((on) => !on)
    }
    addEventListener("keydown", listen)
    return () => removeEventListener("keydown", listen)
  }, [])
  return {
    open: useCallback(() => setOpen(true), []),
    dialogs: (
      <>
        {isOpen ? <Palette onClose={() => setOpen(false)} onDeploy={setDeploying} /> : null}
        {deploying === undefined ? null : (
          <DeployDialog
            project={deploying}
            onClose={() => setDeploying(undefined)}
            onStarted={() => go(buildProjectHref(deploying.name))}
          />
        )}
      </>
    )
  }
}

const readOnlyReason = (isOffline: boolean, role: string | null | undefined): string | undefined => {
  if (isOffline) return "Berth does not answer"
  return role === "viewer" ? "Your token may only look: this is for operators" : undefined
}

/** Page with the sidebar and the routed screen. */
export const App = () => {
  const [lockedOut, setLockedOut] = useState(false)
  const [open, setOpen] = useState(false)
  const [place] = useLocation()
  const main = useRef<HTMLElement>(null)
  // All tabs of a project are one screen, which keeps its run and scroll position.
  const screen = place.split("/").slice(0, 3).join("/")
  const health = useHeartbeat()
  const { data: caller } = useSession()
  const search = useSearch()
  useEffect(() => subscribeSessionEnded(() => setLockedOut(true)), [])
  // Runs before the screen is drawn, and before a part of it scrolls to the anchor of its address.
  useLayoutEffect(() => {
    scrollTo(0, 0)
  }, [screen])
  useEffect(() => setOpen(false), [place])
  if (lockedOut) return <LogIn onDone={() => setLockedOut(false)} />
  const offline = health.error instanceof ServiceFailure && health.error.status === 0
  return (
    <ReadOnlyReason value={readOnlyReason(offline, caller?.role)}>
      <BusyTab />
      <a className="skip" href="#screen" onClick={() => main.current?.focus()}>Skip to the screen</a>
      <header className="bar">
        <Brand />
        <OpenPalette onOpen={search.open} />
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
        <Sidebar open={open} onSearch={search.open} version={health.data?.version} />
        <main className="main" id="screen" ref={main} tabIndex={-1}>
          {offline ? <Offline since={health.dataUpdatedAt} again={health.refetch} /> : null}
          <Upgraded to={health.data?.version} />
          <Boundary key={screen} what="This screen">
            <RoutedScreen />
          </Boundary>
        </main>
      </div>
      {search.dialogs}
    </ReadOnlyReason>
  )
}
