import { Option } from "effect"
import type { Change } from "../../schema/Changelog.ts"
import type { PlatformRecord } from "../../schema/PlatformApp.ts"
import { counted } from "../../services/runs/counted.ts"
import type { AppPlan } from "../applications/appPlan.ts"
import { changesOf } from "../applications/changes.ts"
import type { Target } from "./target.ts"

/** What was read of an entry, in words. */
export const describePlan = ({ buildPack, name, port, warnings }: AppPlan) => {
  const ports = Option.match(port, { onNone: () => "no port", onSome: (number) => `port ${number}` })
  return [`${name}: ${buildPack}, ${ports}`, ...warnings].join(". ")
}

/** Where an application runs, in words. */
export const describeTarget = ({ ip, local, serverUuid }: Target) =>
  `server ${serverUuid}${Option.match(ip, { onNone: () => "", onSome: (address) => ` at ${address}` })}${
    local ? ", local" : ""
  }`

/** What the platform has to change of an application: its build, or all of it when it is not there. */
export const updatesOf = (plan: AppPlan, live: Option.Option<PlatformRecord>): ReadonlyArray<Change> =>
  Option.match(live, {
    onNone: () => [{ field: "_action", label: "Action", old: null, new: "CREATED" }],
    onSome: (app) => changesOf(plan, app)
  })

/** How many changes there are and of what. */
export const describeChanges = (changes: ReadonlyArray<Change>) =>
  changes.length === 0
    ? "no changes"
    : `${counted(changes.length, "change")}: ${changes.map(({ label }) => label).join(", ")}`
