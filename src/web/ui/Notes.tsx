import type { ReactNode } from "react"
import { Icon, type IconName } from "./Icon.tsx"

/** Error message of the service, with a retry button; nothing without an error. */
export const Failure = ({ again, error }: {
  readonly error: Error | null | undefined
  readonly again?: (() => unknown) | undefined
}) =>
  error === null || error === undefined ? null : (
    <div className="note bad" role="alert">
      <Icon name="alert" />
      <span className="grow">{error.message}</span>
      {again === undefined
        ? null
        : <button type="button" className="button small" onClick={() => void again()}>Try again</button>}
    </div>
  )

export const Warnings = ({ texts }: { readonly texts: ReadonlyArray<string> }) =>
  texts.map((text) => (
    <div className="note warn" key={text}>
      <Icon name="alert" />
      <span className="grow">{text}</span>
    </div>
  ))

/** Empty state, with the action that fills it. */
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

/** Loading placeholder. */
export const Waiting = ({ what }: { readonly what: string }) => (
  <div className="waiting" role="status">
    <span className="unseen">Loading {what}</span>
    <i />
    <i />
    <i />
  </div>
)

/** Failure of a query with its retry, or a placeholder until its data has arrived. */
export const Loading = ({ query: { data, error, refetch }, what }: {
  readonly query: { readonly data: unknown; readonly error: Error | null; readonly refetch: () => unknown }
  readonly what: string
}) => (
  <>
    <Failure error={error} again={refetch} />
    {data === undefined && error === null ? <Waiting what={what} /> : null}
  </>
)
