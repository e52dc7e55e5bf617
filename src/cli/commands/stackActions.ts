import { Effect, Option } from "effect"
import { Berth, type Call } from "../../client/Berth.ts"
import { computeRunVerdict } from "../../schema/runs.ts"
import type { StackAction, StackRequest, StackResult } from "../../schema/stacks.ts"
import { defineServiceCommand, yes } from "../options.ts"
import { confirmChange, escapeInline, exitCodes, Screen } from "../output.ts"
import { flagOption, optionalArgument } from "../parse.ts"
import { formatRemains, formatRemoval } from "../plans.ts"
import { noWaitOption, requireService, startWithoutWaiting, verdictCode } from "../reports.ts"
import { followRun } from "../runView.ts"
import {
  confirmOption,
  describeLocation,
  locateNamedStack,
  locationOptions,
  pickStackLocation
} from "../stackLocation.ts"

const project = optionalArgument("project", "Its name under the projects root, or its path.", "project")

interface ActionInput {
  readonly json: boolean
  readonly noWait: boolean
}

/** Runs a stack action and prints its outcome, or only starts it. */
const runStackAction = (action: StackAction, call: Call<StackResult>, { json, noWait }: ActionInput) =>
  Effect.gen(function*() {
    const { print, say } = yield* Screen
    if (noWait) return yield* Effect.as(startWithoutWaiting(call, json), exitCodes.done)
    const { body, next, value } = yield* followRun(call)
    if (json) yield* print(body)
    yield* say(
      [
        ...value.message.split("\n").map(escapeInline),
        ...formatRemains(value.stays ?? []),
        ...json ? [] : next
      ].join("\n")
    )
    return verdictCode[computeRunVerdict({ kind: "stack", subject: { action } }, value)]
  })

const startCommand = defineServiceCommand(
  { name: "start", summary: "Start a project's stack.", examples: ["berth start hello"] },
  { project, noWait: noWaitOption, confirm: confirmOption, ...locationOptions },
  Effect.fnUntraced(function*(input) {
    if (input.noWait) yield* requireService
    const place = yield* locateNamedStack(input.project, input)
    // Asks only for a protected environment.
    const confirmed = yield* confirmChange(
      `Start the stack at ${describeLocation(place)}?`,
      { ...input, yes: true },
      place
    )
    if (Option.isNone(confirmed)) return exitCodes.failed
    const payload = { ...pickStackLocation(place), ...confirmed.value }
    return yield* runStackAction("start", (api) => api.startStack({ payload }), input)
  })
)

const confirmedAction = (
  name: "stop" | "restart",
  summary: string,
  question: (place: string) => string,
  call: (payload: StackRequest) => Call<StackResult>
) =>
  defineServiceCommand(
    { name, summary, examples: [`berth ${name} hello`] },
    { project, yes, noWait: noWaitOption, confirm: confirmOption, ...locationOptions },
    Effect.fnUntraced(function*(input) {
      if (input.noWait) yield* requireService
      const place = yield* locateNamedStack(input.project, input)
      const confirmed = yield* confirmChange(question(describeLocation(place)), input, place)
      if (Option.isNone(confirmed)) return exitCodes.failed
      return yield* runStackAction(name, call({ ...pickStackLocation(place), ...confirmed.value }), input)
    })
  )

const stopCommand = confirmedAction(
  "stop",
  "Stop a project's stack; its containers and data stay.",
  (place) => `Stop the stack at ${place}?`,
  (payload) => (api) => api.stopStack({ payload })
)

const restartCommand = confirmedAction(
  "restart",
  "Restart a project's stack.",
  (place) => `Restart the stack at ${place}?`,
  (payload) => (api) => api.restartStack({ payload })
)

const removeCommand = defineServiceCommand(
  {
    name: "remove",
    summary: "Remove a project's stack from its server: its containers, and Berth's files and images.",
    details:
      "Shows what would be removed, its releases and backups first, and what stays and why; then asks. data/ and volumes stay, " +
      "unless --volumes says otherwise. The project on this machine stays as it is.",
    examples: ["berth remove hello", "berth remove hello --dry-run"]
  },
  {
    project,
    volumes: flagOption("volumes", "Remove its volumes too, with what is in them."),
    dryRun: flagOption("dry-run", "Show what would be removed and what stays, and change nothing."),
    yes,
    noWait: noWaitOption,
    confirm: confirmOption,
    ...locationOptions
  },
  Effect.fnUntraced(function*(input) {
    if (input.noWait) yield* requireService
    const place = yield* locateNamedStack(input.project, input)
    const planned = { payload: { ...pickStackLocation(place), volumes: input.volumes } }
    const { answer } = yield* Berth
    const { print, say } = yield* Screen
    // A list that cannot be read ends the command, since nobody could confirm it; --yes goes without one.
    if (input.dryRun || !input.yes || (place.isProtected && Option.isNone(input.confirm))) {
      const { body, value } = yield* answer((api) => api.planStackRemoval(planned))
      const text = [`Removal of the stack at ${describeLocation(place)}:`, ...formatRemoval(value)].join("\n")
      if (input.dryRun) {
        yield* print(input.json ? body : text)
        return exitCodes.done
      }
      yield* say(text)
    }
    const question = input.volumes
      ? `Remove the stack at ${describeLocation(place)}, and its volumes with all that is in them?`
      : `Remove the stack at ${describeLocation(place)}? Its data/ and volumes stay.`
    const confirmed = yield* confirmChange(question, input, place)
    if (Option.isNone(confirmed)) return exitCodes.failed
    return yield* runStackAction(
      "remove",
      (api) =>
        api.removeStack({ payload: { ...pickStackLocation(place), ...confirmed.value, volumes: input.volumes } }),
      input
    )
  })
)

export const stackActionCommands = [startCommand, stopCommand, restartCommand, removeCommand]
