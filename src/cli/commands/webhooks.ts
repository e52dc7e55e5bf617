import { Effect, Option } from "effect"
import type { WebhookOutcome } from "../../schema/webhooks/Webhook.ts"
import { showAnswer, withService } from "../connection/withService.ts"
import { common, yes } from "../options/common.ts"
import { command, group } from "../parse/command.ts"
import { argument, optionalArgument } from "../parse/described.ts"
import { confirm } from "../terminal/confirm.ts"
import { exitCodes } from "../terminal/Failure.ts"
import { safeText } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { table } from "../terminal/table.ts"

const app = optionalArgument("app", "The exact name of an application; all of them unless given.", "application")
const requestOf = (app: Option.Option<string>) =>
  Option.match(app, { onNone: () => ({}), onSome: (appName) => ({ appName }) })

const outcomeRows = (results: ReadonlyArray<WebhookOutcome>) =>
  results.map(({ app, githost, platform }) => [app, platform.replaceAll("_", " "), githost])

const statusCommand = command(
  {
    name: "status",
    summary: "Show whether pushes deploy each application, and what keeps them from it.",
    examples: ["berth hook status"]
  },
  common,
  (input) =>
    withService(
      input,
      Effect.flatMap(Screen, ({ out, print, say }) =>
        showAnswer(input, (api) =>
          api.webhookStatus({ urlParams: { deep: "true" } }), ({ results }) =>
          Effect.gen(function*() {
            if (results.length === 0) {
              return yield* say("The platform has no application.")
            }
            yield* print(table(
              ["APPLICATION", "SECRET", "HOOK", "REPOSITORY"],
              results.map(({ app, githostWebhookActive, platformSecretSet, repo, unknown }) => [
                app,
                platformSecretSet ? "set" : unknown === undefined ? "missing" : "unknown",
                githostWebhookActive ? "active" : "none",
                repo ?? ""
              ]),
              out
            ))
            const findings = results.flatMap(({ app, findings = [] }) =>
              findings.map(({ finding, fix }) =>
                `! ${safeText(`${app}: ${finding}`)}\n  → ${safeText(fix)}`
              )
            )
            yield* Effect.forEach(findings, say)
          })))
    )
)

const setupCommand = command(
  {
    name: "setup",
    summary: "Make pushes deploy one application, or all of them.",
    examples: ["berth hook setup hello", "berth hook setup --yes"]
  },
  { app, yes, ...common },
  (input) =>
    withService(
      input,
      Effect.gen(function*() {
        const { out, print } = yield* Screen
        const whom = Option.getOrElse(input.app, () => "all applications")
        if (!(yield* confirm(`Make pushes deploy ${safeText(whom)}?`, input.yes))) return exitCodes.failed
        return yield* showAnswer(input, (api) =>
          api.setUpWebhooks({ payload: requestOf(input.app) }), ({ results }) =>
          print(table(["APPLICATION", "PLATFORM", "GIT HOST"], outcomeRows(results), out)))
      })
    )
)

const removeCommand = command(
  {
    name: "remove",
    summary: "Keep pushes from deploying one application, or all of them.",
    examples: ["berth hook remove hello"]
  },
  { app, yes, ...common },
  (input) =>
    withService(
      input,
      Effect.gen(function*() {
        const { out, print } = yield* Screen
        const whom = Option.getOrElse(input.app, () => "all applications")
        if (!(yield* confirm(`Remove the webhooks of ${safeText(whom)}?`, input.yes))) return exitCodes.failed
        return yield* showAnswer(input, (api) =>
          api.tearDownWebhooks({ payload: requestOf(input.app) }), ({ results }) =>
          print(table(["APPLICATION", "PLATFORM", "GIT HOST"], outcomeRows(results), out)))
      })
    )
)

const testCommand = command(
  {
    name: "test",
    summary: "Have the git host send a test delivery; the platform may deploy as after a push.",
    examples: ["berth hook test hello"]
  },
  { app: argument("app", "The exact name of an application.", "application"), ...common },
  (input) =>
    withService(
      input,
      Effect.flatMap(Screen, ({ print }) =>
        showAnswer(input, (api) =>
          api.testWebhook({ payload: { appName: input.app } }), ({ detail, sent }) =>
          Effect.as(print(safeText(detail)), sent ? exitCodes.done : exitCodes.failed)))
    )
)

export const webhooksCommands = [
  group({ name: "hook", summary: "Webhooks, by which pushes deploy: status, setup, test, remove." }, [
    statusCommand,
    setupCommand,
    testCommand,
    removeCommand
  ])
]
