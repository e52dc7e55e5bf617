import type { ReactNode } from "react"

/** How things stand: well, to be looked at, broken, under way, or nothing to say. */
export type Tone = "good" | "warn" | "bad" | "busy" | "idle"

/** A state in a word or two. */
export const Badge = ({ children, plain = false, tone = "idle" }: {
  readonly tone?: Tone
  /** Without the dot. */
  readonly plain?: boolean
  readonly children: ReactNode
}) => <span className={`badge ${tone}${plain ? " plain" : ""}`}>{children}</span>
