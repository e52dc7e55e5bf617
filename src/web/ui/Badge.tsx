import type { ReactNode } from "react"
import type { Tone } from "./tone.ts"

/** State in words with its colour. */
export const Badge = ({ children, plain = false, tone = "idle" }: {
  readonly tone?: Tone
  /** Omits the dot. */
  readonly plain?: boolean
  readonly children: ReactNode
}) => <span className={`badge ${tone}${plain ? " plain" : ""}`}>{children}</span>
