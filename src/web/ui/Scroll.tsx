import type { ReactNode } from "react"

/** What may be wider than the screen: it is scrolled by itself, by the keyboard too. */
export const Scroll = ({ children, label }: { readonly label: string; readonly children: ReactNode }) => (
  <div className="scroll" tabIndex={0} role="region" aria-label={label}>{children}</div>
)
