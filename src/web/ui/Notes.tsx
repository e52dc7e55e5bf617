import type { ReactNode } from "react"
import { Icon, type IconName } from "./Icon.tsx"

/** What went wrong, in the words of the service, and a way to try again. */
export const Failure = ({ again, error }: { readonly error: Error; readonly again?: (() => unknown) | undefined }) => (
  <div className="note bad" role="alert">
    <Icon name="alert" />
    <span className="grow">{error.message}</span>
    {again === undefined
      ? null
      : <button type="button" className="button small" onClick={() => void again()}>Try again</button>}
  </div>
)

/** What does not stop anybody, and is worth knowing. */
export const Warnings = ({ texts }: { readonly texts: ReadonlyArray<string> }) =>
  texts.map((text) => (
    <div className="note warn" key={text}>
      <Icon name="alert" />
      <span className="grow">{text}</span>
    </div>
  ))

/** A place with nothing in it, and what would fill it. */
export const Empty = ({ children, icon = "box", title }: {
  readonly title: string
  readonly icon?: IconName
  readonly children?: ReactNode
}) => (
  <div className="empty">
    <Icon name={icon} />
    <strong>{title}</strong>
    {children === undefined ? null : <span>{children}</span>}
  </div>
)

/** Something is on its way. */
export const Waiting = ({ what }: { readonly what: string }) => (
  <div className="waiting" role="status">
    <span className="unseen">Loading {what}</span>
    <i />
    <i />
    <i />
  </div>
)
