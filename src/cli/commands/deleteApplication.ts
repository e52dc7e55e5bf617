import { Effect, Option } from "effect"
import { Berth } from "../../client/Berth.ts"
import type { Removal } from "../../schema/applications/Removal.ts"
import { yes } from "../options/common.ts"
import { defineServiceCommand } from "../options/defineServiceCommand.ts"
import { applicationName, findUuid, makeApplicationNotFound } from "../options/platformApplication.ts"
import { flagOption } from "../parse/parameters.ts"
import { confirm } from "../terminal/confirm.ts"
import { exitCodes } from "../terminal/exitCodes.ts"
import { escapeInline } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"

/** Lists the parts that are removed with an application, and those that stay. */
const removalLines = ({ hooks, live, name, route, stays }: Removal): ReadonlyArray<string> => [
  live
    ? `- application ${escapeInline(name)}, with all that the platform keeps of it`
    : `= application ${escapeInline(name)}: the platform no longer has it`,
  ...(route === null ? [] : [`- route ${escapeInline(route.routeName)}: ${escapeInline(route.way)}`]),
  ...hooks.map(({ id, repository }) => `- webhook ${id} of ${escapeInline(repository)}`),
  ...stays.map((words) => `! stays: ${escapeInline(words)}`)
]

export const deleteApplicationCommand = defineServiceCommand(
  {
    name: "delete",
    summary: "Delete an application from the platform, with its route and its webhook.",
    details: "Ends with 2 when a part of it could not be removed.",
    examples: ["berth app delete hello", "berth app delete hello --dry-run", "berth app delete hello --keep-route"]
  },
  {
    name: applicationName,
    dryRun: flagOption("dry-run", "Show what would go, and change nothing."),
    keepRoute: flagOption("keep-route", "Leave its route in the proxy file."),
    yes
  },
  Effect.fnUntraced(function*(input) {
    const { answer } = yield* Berth
    const { print, say } = yield* Screen
    // Falls back to the name for an application that the platform no longer has, to remove its route and hooks.
    const given = Option.getOrElse(yield* findUuid(input.name), () => input.name)
    const { body, value } = yield* answer((api) => api.planRemoval({ path: { uuid: given } })).pipe(
      Effect.catchIf(({ status }) => status === 404, () => makeApplicationNotFound(input.name))
    )
    const { uuid } = value
    const shown = escapeInline(value.name)
    const planned: Removal = input.keepRoute && value.route !== null
      ? { ...value, route: null, stays: [...value.stays, `the route ${value.route.routeName}: --keep-route`] }
      : value
    if (input.dryRun) {
      yield* print(input.json ? body : removalLines(planned).join("\n"))
      return exitCodes.done
    }
    const parts = [
      ...(planned.route === null ? [] : ["its route"]),
      ...(planned.hooks.length === 0 ? [] : ["its webhook"])
    ]
    if (!value.live && parts.length === 0) {
      yield* say([
        ...planned.stays.map((words) => `! stays: ${escapeInline(words)}`),
        `The platform no longer has ${shown}, and nothing else of it is left to remove.`
      ].join("\n"))
      return planned.stays.length === 0 ? exitCodes.done : exitCodes.differs
    }
    yield* say([`Delete ${shown}:`, ...removalLines(planned)].join("\n"))
    const all = parts.length === 0 ? "all that it keeps of it" : ["all that it keeps of it", ...parts].join(", ")
    const question = value.live
      ? `Delete ${shown} from the platform, with ${all}?`
      : `Remove ${parts.join(" and ")}, which ${shown} has left?`
    if (!(yield* confirm(question, input.yes))) return exitCodes.failed
    const payload = { keepRoute: input.keepRoute, planHash: value.planHash }
    const done = yield* answer((api) => api.removeApplication({ path: { uuid }, payload }))
    if (input.json) yield* print(done.body)
    yield* Effect.forEach(done.value.stays, (words) => say(`! stays: ${escapeInline(words)}`))
    const gone = [
      ...(done.value.route === null ? [] : [`its route ${escapeInline(done.value.route.routeName)}`]),
      ...done.value.hooks.map(({ id }) => `its webhook ${id}`)
    ]
    const went = gone.join(" and ")
    yield* say(
      value.live
        ? `Deleted ${shown} from the platform${went === "" ? "" : `, with ${went}`}.`
        : `Removed ${went === "" ? "nothing" : went} of ${shown}, which the platform no longer has.`
    )
    return done.value.success ? exitCodes.done : exitCodes.differs
  })
)
