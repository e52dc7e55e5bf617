import type { ReactNode } from "react"

/** Titled section of a screen. */
export const Panel = ({ aside, children, footer, note, title, tone = "" }: {
  readonly title: string
  readonly note?: ReactNode
  readonly aside?: ReactNode
  readonly children?: ReactNode
  readonly footer?: ReactNode
  readonly tone?: "good" | "warn" | "bad" | ""
}) => (
  <section className="panel" aria-label={title}>
    <header>
      <h2>{title}</h2>
      {note === undefined ? null : <span className="quiet">{note}</span>}
      {aside === undefined ? null : <div className="aside">{aside}</div>}
    </header>
    {children}
    {footer === undefined ? null : <footer className={tone}>{footer}</footer>}
  </section>
)
