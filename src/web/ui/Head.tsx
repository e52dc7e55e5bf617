import { type ReactNode, useEffect } from "react"
import { Link } from "wouter"
import { setScreenTitle } from "../browser/tabTitle.ts"

/** Header of a screen: breadcrumbs, title, state, facts and actions. */
export const Head = ({ actions, children, facts = [], state, title, under }: {
  readonly title: string
  readonly under?: { readonly name: string; readonly href: string }
  readonly state?: ReactNode
  readonly facts?: ReadonlyArray<readonly [name: string, value: ReactNode]>
  readonly actions?: ReactNode
  readonly children?: ReactNode
}) => {
  useEffect(() => {
    setScreenTitle(title === "Overview" ? "Berth" : `${title} · Berth`)
  }, [title])
  return (
    <div className="head">
      <div className="words">
        {under === undefined
          ? null
          : (
            <nav className="crumb" aria-label="Above">
              <Link href={under.href}>{under.name}</Link> /
            </nav>
          )}
        <div className="title">
          <h1>{title}</h1>
          {state}
        </div>
        {children}
        {facts.length === 0 ? null : (
          <dl className="facts">
            {facts.map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        )}
      </div>
      {actions === undefined ? null : <div className="actions">{actions}</div>}
    </div>
  )
}
