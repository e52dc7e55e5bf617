import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react"
import { useLocation } from "wouter"
import type { LocalProject } from "../../schema/projects/Project.ts"
import { DeployDialog } from "../projects/DeployDialog.tsx"
import { buildProjectHref } from "../projects/projectHref.ts"
import { useHeartbeat, useSession } from "../service/queries.ts"
import { ServiceFailure, subscribeSessionEnded } from "../service/ServiceFailure.ts"
import { Boundary } from "../ui/Boundary.tsx"
import { Icon } from "../ui/Icon.tsx"
import { lazyComponent } from "../ui/lazyComponent.tsx"
import { ReadOnlyReason } from "../ui/ReadOnlyReason.ts"
import { Brand } from "./Brand.tsx"
import { BusyTab } from "./BusyTab.tsx"
import { LogIn } from "./LogIn.tsx"
import { Offline } from "./Offline.tsx"
import { OpenPalette } from "./OpenPalette.tsx"
import { RoutedScreen } from "./RoutedScreen.tsx"
import { Sidebar } from "./Sidebar.tsx"
import { Upgraded } from "./Upgraded.tsx"

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
