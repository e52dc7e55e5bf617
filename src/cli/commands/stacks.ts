import { Effect, Option } from "effect"
import type { Call } from "../../client/Berth.ts"
import { runVerdict } from "../../schema/runVerdict.ts"
import type { StackAction, StackResult } from "../../schema/Stack.ts"
import { answered, common, connected, yes } from "../common.ts"
import { confirmed } from "../confirm.ts"
import { exitCodes, verdictCode } from "../Failure.ts"
import { command } from "../parse/command.ts"
import { flag, optionalArgument } from "../parse/described.ts"
import { type Place, placeOf, placeOptions, stackAt, whereOf } from "../projects.ts"
import { followed } from "../runs/followRun.ts"
import { safeText } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { table } from "../terminal/table.ts"
import { deployEnd } from "./deploy.ts"

const project = optionalArgument("project", "Its name under the projects root, or its path.", "project")

const releasesCommand = command(
  {
    name: "releases",
    summary: "List what a project can be rolled back to.",
    examples: ["berth releases", "berth releases hello"]
  },
  { project, ...placeOptions, ...common },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { out, print, say } = yield* Screen
        const { remotePath, serverId } = yield* placeOf(input.project, input)
        return yield* answered(
          input,
          (api) => api.listReleases({ path: { id: serverId }, urlParams: { remotePath } }),
          ({ releases }) =>
            releases.length === 0
              ? say("No release yet: each deploy leaves one.")
              : print(table(
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
)

const rollbackCommand = command(
  {
    name: "rollback",
    summary: "Run an earlier release of a project again; the one before the current one unless named.",
    details: "Nothing is sent: the server keeps what it needs.",
    examples: ["berth rollback hello", "berth rollback hello 12 --yes"]
  },
  {
    project,
    release: optionalArgument("release", "The id of a release; berth releases lists them.", "release"),
    yes,
    ...placeOptions,
    ...common
  },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { print } = yield* Screen
        const place = yield* placeOf(input.project, input)
        const release = Option.getOrUndefined(input.release)
        const what = release === undefined ? "the release before the current one" : `release ${safeText(release)}`
        if (!(yield* confirmed(`Roll ${whereOf(place)} back to ${what}?`, input.yes))) return exitCodes.failed
        const { body, value } = yield* followed((api) =>
          api.rollback({ payload: { ...stackAt(place), ...(release === undefined ? {} : { release }) } })
        )
        if (input.json) yield* print(body)
        return yield* deployEnd(value)
      })
    )
)

/** Does something to a stack as a run, and says what became of it. */
const changed = (action: StackAction, call: Call<StackResult>, json: boolean) =>
  Effect.gen(function*() {
    const { print, say } = yield* Screen
    const { body, value } = yield* followed(call)
    if (json) yield* print(body)
    yield* say(value.message.split("\n").map(safeText).join("\n"))
    return verdictCode[runVerdict({ kind: "stack", subject: { action } }, value)]
  })

const startCommand = command(
  { name: "start", summary: "Start a project's stack.", examples: ["berth start hello"] },
  { project, ...placeOptions, ...common },
  (input) =>
    connected(
      input,
      Effect.flatMap(placeOf(input.project, input), (place) =>
        changed("start", (api) => api.startStack({ payload: stackAt(place) }), input.json))
    )
)

const withQuestion = (
  name: "stop" | "restart",
  summary: string,
  question: (place: string) => string,
  call: (place: Place) => Call<StackResult>
) =>
  command(
    { name, summary, examples: [`berth ${name} hello`] },
    { project, yes, ...placeOptions, ...common },
    (input) =>
      connected(
        input,
        Effect.gen(function*() {
          const place = yield* placeOf(input.project, input)
          if (!(yield* confirmed(question(whereOf(place)), input.yes))) return exitCodes.failed
          return yield* changed(name, call(place), input.json)
        })
      )
  )

const stopCommand = withQuestion(
  "stop",
  "Stop a project's stack; its containers and data stay.",
  (place) => `Stop the stack at ${place}?`,
  (place) => (api) => api.stopStack({ payload: stackAt(place) })
)

const restartCommand = withQuestion(
  "restart",
  "Restart a project's stack.",
  (place) => `Restart the stack at ${place}?`,
  (place) => (api) => api.restartStack({ payload: stackAt(place) })
)

const removeCommand = command(
  {
    name: "remove",
    summary: "Remove a project's stack from its server: its containers, and Berth's files and images.",
    details: "data/ and volumes stay, unless --volumes says otherwise. The project on this machine stays as it is.",
    examples: ["berth remove hello"]
  },
  {
    project,
    volumes: flag("volumes", "Remove its volumes too, with what is in them."),
    yes,
    ...placeOptions,
    ...common
  },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const place = yield* placeOf(input.project, input)
        const question = input.volumes
          ? `Remove the stack at ${whereOf(place)}, and its volumes with all that is in them?`
          : `Remove the stack at ${whereOf(place)}? Its data/ and volumes stay.`
        if (!(yield* confirmed(question, input.yes))) return exitCodes.failed
        return yield* changed(
          "remove",
          (api) => api.removeStack({ payload: { ...stackAt(place), volumes: input.volumes } }),
          input.json
        )
      })
    )
)

export const stacksCommands = [
  rollbackCommand,
  releasesCommand,
  startCommand,
  stopCommand,
  restartCommand,
  removeCommand
]
