import type { ReactNode } from "react"

/** Horizontal scroll area for wide content; focusable for the keyboard. */
export const Scroll = ({ children, label }: { readonly label: string; readonly children: ReactNode }) => (
  <div className="scroll" tabIndex={0} role="region" aria-label={label}>{children}</div>
)
