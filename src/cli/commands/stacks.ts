import { Effect, Option } from "effect"
import { Berth, type Call } from "../../client/Berth.ts"
import type { StackAction, StackResult } from "../../schema/deploy/Stack.ts"
import { computeRunVerdict } from "../../schema/runs/runVerdict.ts"
import { showAnswer } from "../connection/withService.ts"
import { printDeployEnd } from "../deploys/printDeployEnd.ts"
import { yes } from "../options/common.ts"
import { defineServiceCommand } from "../options/defineServiceCommand.ts"
import {
  describeLocation,
  locateNamedStack,
  locationOptions,
  pickStackLocation,
  type StackLocation
} from "../options/projects.ts"
import { flagOption, optionalArgument } from "../parse/parameters.ts"
import { formatReleaseComparison, formatRollbackPlan } from "../plans/releaseLines.ts"
import { followRun } from "../runs/followRun.ts"
import { Failed } from "../terminal/commandErrors.ts"
import { confirm } from "../terminal/confirm.ts"
import { exitCodes, verdictCode } from "../terminal/exitCodes.ts"
import { formatTable } from "../terminal/formatTable.ts"
import { escapeInline } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { wrapText } from "../terminal/wrapText.ts"

const project = optionalArgument("project", "Its name under the projects root, or its path.", "project")

/** Compares two releases of a stack; returns the exit code. */
const compareReleases = (
  json: boolean,
  { remotePath, serverId }: StackLocation,
  from: string,
  to: Option.Option<string>
) =>
  Effect.gen(function*() {
    const { answer } = yield* Berth
    const { out, print } = yield* Screen
    const { body, value } = yield* answer((api) =>
      api.compareReleases({
        path: { id: serverId },
        urlParams: { remotePath, from, ...Option.match(to, { onNone: () => ({}), onSome: (to) => ({ to }) }) }
      })
    )
    const title = `From release ${escapeInline(value.from.id)} to ${escapeInline(value.to.id)}:`
    yield* print(json ? body : [title, ...formatReleaseComparison(value, out)].join("\n"))
    return [...value.files, ...value.services].every(({ change }) => change === "same")
      ? exitCodes.done
      : exitCodes.differs
  })

const releasesCommand = defineServiceCommand(
  {
    name: "releases",
    summary: "List what a project can be rolled back to, or compare two releases.",
    details:
      "With the id of a release it shows how it differs from the current one, with two from one to the other: images " +
      "and files, with unified diffs of small text files; of env files the names of the variables alone. Then it ends with 2 " +
      "when something differs.",
    examples: ["berth releases", "berth releases hello", "berth releases hello 12 14"]
  },
  {
    project,
    from: optionalArgument("from", "The id of a release to compare.", "release"),
    to: optionalArgument("to", "The id of the release to compare it with; the current one unless named.", "release"),
    ...locationOptions
  },
  Effect.fnUntraced(function*(input) {
    const { out, print, say } = yield* Screen
    const place = yield* locateNamedStack(input.project, input)
    if (Option.isSome(input.from)) return yield* compareReleases(input.json, place, input.from.value, input.to)
    const { remotePath, serverId } = place
    return yield* showAnswer(
      input,
      (api) => api.listReleases({ path: { id: serverId }, urlParams: { remotePath } }),
      ({ releases }) =>
        releases.length === 0
          ? say("No release yet: each deploy leaves one.")
          : print(formatTable(
            ["RELEASE", "AT", "BY", "IMAGES", ""],
            releases.map(({ at, available, by, current, id, images }) => [
              id,
              at,
              by,
              images.map(({ name }) => name).join(", "),
              current ? "current" : available ? "" : "its images are gone"
            ]),
            out
          ))
    )
  })
)

const rollbackCommand = defineServiceCommand(
  {
    name: "rollback",
    summary: "Run an earlier release of a project again; the one before the current one unless named.",
    details: "Shows what would change, asks, and has the server run what it keeps. Nothing is sent.",
    examples: ["berth rollback hello", "berth rollback hello 12 --yes", "berth rollback hello --dry-run"]
  },
  {
    project,
    release: optionalArgument("release", "The id of a release; berth releases lists them.", "release"),
    yes,
    dryRun: flagOption("dry-run", "Show what would change, and change nothing."),
    ...locationOptions
  },
  Effect.fnUntraced(function*(input) {
    const { answer } = yield* Berth
    const { err, out, print, say } = yield* Screen
    const place = yield* locateNamedStack(input.project, input)
    const wanted = Option.match(input.release, { onNone: () => ({}), onSome: (release) => ({ release }) })
    const planned = yield* answer((api) => api.planRollback({ payload: { ...pickStackLocation(place), ...wanted } }))
    const plan = planned.value
    const { at, id } = plan.release
    const question = `Roll ${describeLocation(place)} back to release ${escapeInline(id)}`
    const title = `${question} of ${escapeInline(at)}`
    if (input.dryRun) {
      const lines = [`${title}:`, ...formatRollbackPlan(plan, out, { texts: true })]
      yield* print(input.json ? planned.body : wrapText(lines.join("\n"), out))
      return plan.obstacles.length > 0 ? exitCodes.failed : exitCodes.done
    }
    yield* say([`${title}:`, ...formatRollbackPlan(plan, err, { texts: false })].join("\n"))
    if (plan.obstacles.length > 0) {
      return yield* new Failed({
        message: `${describeLocation(place)} cannot be rolled back to release ${
          escapeInline(id)
        } now: nothing was changed`
      })
    }
    if (!(yield* confirm(`${question}?`, input.yes))) return exitCodes.failed
    const { body, next, value } = yield* followRun((api) =>
      api.rollback({ payload: { ...pickStackLocation(place), release: id } })
    )
    if (input.json) yield* print(body)
    return yield* printDeployEnd(value, input.json ? [] : next)
  })
)

/** Runs a stack action and prints its outcome. */
const runStackAction = (action: StackAction, call: Call<StackResult>, json: boolean) =>
  Effect.gen(function*() {
    const { print, say } = yield* Screen
    const { body, next, value } = yield* followRun(call)
    if (json) yield* print(body)
    yield* say([...value.message.split("\n").map(escapeInline), ...json ? [] : next].join("\n"))
    return verdictCode[computeRunVerdict({ kind: "stack", subject: { action } }, value)]
  })

const startCommand = defineServiceCommand(
  { name: "start", summary: "Start a project's stack.", examples: ["berth start hello"] },
  { project, ...locationOptions },
  (input) =>
    Effect.flatMap(
      locateNamedStack(input.project, input),
      (place) => runStackAction("start", (api) => api.startStack({ payload: pickStackLocation(place) }), input.json)
    )
)

const confirmedAction = (
  name: "stop" | "restart",
  summary: string,
  question: (place: string) => string,
  call: (place: StackLocation) => Call<StackResult>
) =>
  defineServiceCommand(
    { name, summary, examples: [`berth ${name} hello`] },
    { project, yes, ...locationOptions },
    Effect.fnUntraced(function*(input) {
      const place = yield* locateNamedStack(input.project, input)
      if (!(yield* confirm(question(describeLocation(place)), input.yes))) return exitCodes.failed
      return yield* runStackAction(name, call(place), input.json)
    })
  )

const stopCommand = confirmedAction(
  "stop",
  "Stop a project's stack; its containers and data stay.",
  (place) => `Stop the stack at ${place}?`,
  (place) => (api) => api.stopStack({ payload: pickStackLocation(place) })
)

const restartCommand = confirmedAction(
  "restart",
  "Restart a project's stack.",
  (place) => `Restart the stack at ${place}?`,
  (place) => (api) => api.restartStack({ payload: pickStackLocation(place) })
)

const removeCommand = defineServiceCommand(
  {
    name: "remove",
    summary: "Remove a project's stack from its server: its containers, and Berth's files and images.",
    details: "data/ and volumes stay, unless --volumes says otherwise. The project on this machine stays as it is.",
    examples: ["berth remove hello"]
  },
  { project, volumes: flagOption("volumes", "Remove its volumes too, with what is in them."), yes, ...locationOptions },
  Effect.fnUntraced(function*(input) {
    const place = yield* locateNamedStack(input.project, input)
    const question = input.volumes
      ? `Remove the stack at ${describeLocation(place)}, and its volumes with all that is in them?`
      : `Remove the stack at ${describeLocation(place)}? Its data/ and volumes stay.`
    if (!(yield* confirm(question, input.yes))) return exitCodes.failed
    return yield* runStackAction(
      "remove",
      (api) => api.removeStack({ payload: { ...pickStackLocation(place), volumes: input.volumes } }),
      input.json
    )
  })
)

export const stacksCommands = [
  rollbackCommand,
  releasesCommand,
  startCommand,
  stopCommand,
  restartCommand,
  removeCommand
]
