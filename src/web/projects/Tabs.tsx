import { Link } from "wouter"
import { buildProjectHref, type ProjectTab, projectTabs } from "./projectHref.ts"

/** Tabs of a project; each has its own address. */
export const Tabs = ({ counts, current, name, shown }: {
  readonly name: string
  readonly current: ProjectTab
  readonly shown: ReadonlySet<ProjectTab>
  /** Numbers beside the names of tabs. */
  readonly counts: Partial<Record<ProjectTab, number>>
}) => (
  <nav className="tabs" aria-label={`Parts of ${name}`}>
    {projectTabs.filter(([tab]) => shown.has(tab)).map(([tab, words, more]) => {
      const count = counts[tab] ?? 0
      return (
        <Link key={tab} href={buildProjectHref(name, tab)} aria-current={tab === current ? "page" : undefined}>
          <span>
            {words}
            {more === undefined ? null : <span className="wide-only">{` ${more}`}</span>}
          </span>
          {count === 0 ? null : <span className="count">{count}</span>}
        </Link>
      )
    })}
  </nav>
)
