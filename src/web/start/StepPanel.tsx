import type { ReactNode } from "react"
import { Icon } from "../ui/Icon.tsx"

/** State of a step; `later` waits for the previous step. */
export type StepState = "done" | "now" | "later"

const words = { done: "done", now: "next", later: "later" } as const

/** Panel of a first step: its content while it is next, a summary once it is done. */
export const StepPanel = ({ aside, children, number, state, summary, title }: {
  readonly number: number
  readonly title: string
  readonly state: StepState
  readonly summary?: ReactNode
  readonly aside?: ReactNode
  readonly children: ReactNode
}) => (
  <li className={`first-step ${state}`}>
    <section className="panel" aria-label={title} aria-current={state === "now" ? "step" : undefined}>
      <header>
        <span className="first-step-mark">
          {state === "done" ? <Icon name="check" /> : number}
          <span className="unseen">{words[state]}</span>
        </span>
        <h2>{title}</h2>
        {state === "done" ? <span className="quiet grow">{summary}</span> : null}
        {aside === undefined ? null : <div className="aside">{aside}</div>}
      </header>
      {state === "now" ? children : null}
    </section>
  </li>
)
