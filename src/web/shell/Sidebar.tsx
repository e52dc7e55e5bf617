import { useState } from "react"
import { Link, useLocation } from "wouter"
import { useUnderWay } from "../runs/useRuns.ts"
import { Icon } from "../ui/Icon.tsx"
import { Brand } from "./Brand.tsx"
import { Caller } from "./Caller.tsx"
import { OpenPalette } from "./OpenPalette.tsx"
import { screens } from "./screens.ts"
import { SideProjects } from "./SideProjects.tsx"
import { readTheme, toggleTheme } from "./theme.ts"

/** Navigation: screens, and projects with their state. */
export const Sidebar = ({ onSearch, open, version }: {
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
