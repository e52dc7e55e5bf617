import type { ReactNode } from "react"

/** Colour of a state. */
export type Tone = "good" | "warn" | "bad" | "busy" | "idle"

export const Badge = ({ children, plain = false, tone = "idle" }: {
  readonly tone?: Tone
  /** Omits the dot. */
  readonly plain?: boolean
  readonly children: ReactNode
}) => <span className={`badge ${tone}${plain ? " plain" : ""}`}>{children}</span>
