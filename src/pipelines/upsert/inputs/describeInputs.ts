import { Option } from "effect"
import type { Change } from "../../../schema/applications/Changelog.ts"
import type { PlatformRecord } from "../../../schema/applications/PlatformApp.ts"
import { pluralize } from "../../../schema/words/pluralize.ts"
import type { AppPlan } from "../../applications/appPlan.ts"
import { computeBuildChanges } from "../../applications/changes.ts"
import type { PlatformTarget } from "./target.ts"

export const describePlan = (
  { buildPack, name, port, warnings }: Pick<AppPlan, "buildPack" | "name" | "port" | "warnings">
) => {
  const ports = Option.match(port, { onNone: () => "no port", onSome: (number) => `port ${number}` })
  return [`${name}: ${buildPack}, ${ports}`, ...warnings].join(". ")
}

/** Describes the server of an application. */
export const describeTarget = ({ ip, local, serverUuid }: PlatformTarget) =>
  `server ${serverUuid}${Option.match(ip, { onNone: () => "", onSome: (address) => ` at ${address}` })}${
    local ? ", local" : ""
  }`

/** Changes for the changelog: of the build, or the creation. */
export const listChangelogUpdates = (plan: AppPlan, live: Option.Option<PlatformRecord>): ReadonlyArray<Change> =>
  Option.match(live, {
    onNone: () => [{ field: "_action", label: "Action", old: null, new: "CREATED" }],
    onSome: (app) => computeBuildChanges(plan, app)
  })

/** Counts changes and names their fields. */
export const describeChanges = (changes: ReadonlyArray<Change>) =>
  changes.length === 0
    ? "no changes"
    : `${pluralize(changes.length, "change")}: ${changes.map(({ label }) => label).join(", ")}`
