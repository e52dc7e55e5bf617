import type { ReactNode } from "react"
import { changeWords } from "./changeWords.ts"

/** Row of a deploy plan: name, change and size. */
export const PlannedRow = ({ aside, change, kind, name }: {
  readonly name: string
  readonly change: keyof typeof changeWords
  readonly kind?: string
  readonly aside?: ReactNode
}) => {
  const [tone, sign, words] = changeWords[change]
  return (
    <div className="plan-row">
      <span className={`sign ${tone}`} aria-hidden="true">{sign}</span>
      <code>{name}</code>
      <span className="quiet">{kind === undefined ? words : `${kind} ${words}`}</span>
      {aside === undefined ? null : <span className="aside numbers">{aside}</span>}
    </div>
  )
}
