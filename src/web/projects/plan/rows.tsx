import { lazy, type ReactNode, Suspense } from "react"
import type { KeyDifference } from "../../../schema/compare.ts"
import {
  type ChangedFile,
  type ChangedVariables,
  describeRollout,
  type PlannedService
} from "../../../schema/deploys.ts"
import { Boundary, Waiting } from "../../ui/components.tsx"
import { countChangedLines, parseHunks } from "./hunks.ts"

/** Words and signs for changes of files, images, services and secrets. */
export const changeWords = {
  new: ["good", "+", "is new"],
  changed: ["warn", "~", "changes"],
  removed: ["bad", "−", "is removed"],
  same: ["", "=", "stays"],
  create: ["good", "+", "is created"],
  recreate: ["warn", "~", "is made anew"],
  remove: ["bad", "−", "is removed"],
  gone: ["bad", "−", "is removed"],
  unknown: ["", "?", "is resolved by a deploy"],
  keep: ["", "=", "runs on"],
  run: ["", ">", "is run"],
  follow: ["", ">", "is followed"]
} as const

// Largest part of the bundle: loaded lazily with the first diff.
const Hunk = lazy(() => import("./Hunk.tsx").then((part) => ({ default: part.Hunk })))

export const Diff = ({ diff, name }: { readonly diff: string; readonly name: string }) => (
  <div className="hunks">
    <Boundary what="This diff">
      <Suspense fallback={<Waiting what="the changes" />}>
        {parseHunks(diff).map((hunk, index) => (
          <div key={`${hunk.start}`}>
            {index > 0 || hunk.start > 1 ? <div className="hunk-gap">line {hunk.start}</div> : null}
            <Hunk hunk={hunk} label={`Changes of ${name} from line ${hunk.start}`} />
          </div>
        ))}
      </Suspense>
    </Boundary>
  </div>
)

/** Names of the variables that differ between two env files; never their values. */
export const ChangedNames = ({ variables: { added, changed, removed } }: { readonly variables: ChangedVariables }) => (
  <ul className="keys" aria-label="Variables">
    {added.map((name) => (
      <li className="chip" key={`+${name}`}>
        <b className="good">+</b>
        <code>{name}</code>
      </li>
    ))}
    {changed.map((name) => (
      <li className="chip" key={`~${name}`}>
        <b className="warn">~</b>
        <code>{name}</code>
        <span className="quiet">other value</span>
      </li>
    ))}
    {removed.map((name) => (
      <li className="chip" key={`-${name}`}>
        <b className="bad">−</b>
        <code>{name}</code>
        <span className="quiet">goes</span>
      </li>
    ))}
  </ul>
)

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

/** Row of a file with its differences: lines of a text, variable names of an env file. */
export const ChangedFileRow = ({ aside, file: { change, diff, name, variables } }: {
  readonly file: ChangedFile
  readonly aside?: ReactNode
}) => {
  const lines = diff === undefined ? undefined : countChangedLines(diff)
  return (
    <>
      <PlannedRow
        name={name}
        change={change}
        aside={
          <>
            {lines === undefined ? null : (
              <span>
                <span className="good">+{lines.added}</span> <span className="bad">−{lines.removed}</span>
              </span>
            )}
            {aside}
          </>
        }
      />
      {variables === undefined ? null : <ChangedNames variables={variables} />}
      {diff === undefined ? null : <Diff diff={diff} name={name} />}
    </>
  )
}

/** Variables that a deploy would add, change and remove on the server. */
export const computeChangedVariables = ({ different, localOnly, remoteOnly }: KeyDifference): ChangedVariables => ({
  added: localOnly,
  changed: different,
  removed: remoteOnly
})

/** Row of a service: its change, and how it gets its container. */
export const PlannedServiceRow = ({ service }: { readonly service: PlannedService }) => (
  <PlannedRow
    name={service.name}
    kind="service"
    change={service.change}
    aside={describeRollout(service) || undefined}
  />
)
