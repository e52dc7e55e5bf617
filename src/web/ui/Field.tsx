import type { ReactNode } from "react"

/** Labelled form field. */
export const Field = ({ children, help, label, wide = false }: {
  readonly label: string
  readonly help?: string
  readonly wide?: boolean
  readonly children: ReactNode
}) => (
  <label className={wide ? "field wide" : "field"}>
    <span>{label}</span>
    {children}
    {help === undefined ? null : <small>{help}</small>}
  </label>
)
