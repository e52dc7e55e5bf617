import { Effect, Option } from "effect"
import { Berth, type Call } from "../../client/Berth.ts"
import type { WebhookRequest, WebhookTeardown } from "../../schema/webhooks.ts"
import { type CommonInput, defineServiceCommand, requireUuid, showAnswer, showFinding, yes } from "../options.ts"
import { confirm, escapeInline, exitCodes, formatTable, printTable, Screen } from "../output.ts"
import { argument, defineCommandGroup, optionalArgument } from "../parse.ts"

const app = optionalArgument("app", "The exact name of an application; all of them unless given.", "application")

const statusCommand = defineServiceCommand(
  {
    name: "status",
    summary: "Show whether pushes deploy each application, and what keeps them from it.",
    examples: ["berth hook status"]
  },
  {},
  (input) =>
    showAnswer(
      input,
      (api) => api.webhookStatus({ urlParams: { deep: "true" } }),
      ({ results }) =>
        Effect.gen(function*() {
          yield* printTable(
            "The platform has no application.",
            ["APPLICATION", "SECRET", "HOOK", "REPOSITORY"],
            results.map(({ app, githostWebhookActive, platformSecretSet, repo, unknown }) => [
              app,
              platformSecretSet ? "set" : unknown === undefined ? "missing" : "unknown",
              githostWebhookActive ? "active" : "none",
              repo ?? ""
            ])
          )
          const { say } = yield* Screen
          const findings = results.flatMap(({ app, findings = [] }) =>
            findings.map(({ finding, fix }) => `! ${escapeInline(`${app}: ${finding}`)}\n  → ${escapeInline(fix)}`)
          )
          yield* Effect.forEach(findings, say)
        })
    )
)

/** Confirms a change of the webhooks of one or all applications, and prints the outcome of each. */
const changeHooks = (
  input: Pick<CommonInput, "json"> & { readonly app: Option.Option<string>; readonly yes: boolean },
  question: (whom: string) => string,
  change: (payload: WebhookRequest) => Call<WebhookTeardown>
) =>
  Effect.gen(function*() {
    const { out, print } = yield* Screen
    // A question about what cannot be done would be answered for nothing.
    if (!input.yes) {
      yield* Option.match(input.app, {
        onNone: () => Effect.flatMap(Berth, ({ use }) => use((api) => api.webhookStatus({ urlParams: {} }))),
        onSome: requireUuid
      })
    }
    const whom = Option.getOrElse(input.app, () => "all applications")
    if (!(yield* confirm(question(escapeInline(whom)), input.yes))) return exitCodes.failed
    const payload = Option.match(input.app, { onNone: () => ({}), onSome: (appName) => ({ appName }) })
    return yield* showAnswer(input, change(payload), ({ results }) => {
      const rows = results.map(({ app, githost, platform }) => [app, platform.replaceAll("_", " "), githost])
      return print(formatTable(["APPLICATION", "PLATFORM", "GIT HOST"], rows, out))
    })
  })

const setupCommand = defineServiceCommand(
  {
    name: "setup",
    summary: "Make pushes deploy one application, or all of them.",
    examples: ["berth hook setup hello", "berth hook setup --yes"]
  },
  { app, yes },
  (input) =>
    changeHooks(input, (whom) => `Make pushes deploy ${whom}?`, (payload) => (api) => api.setUpWebhooks({ payload }))
)

const removeCommand = defineServiceCommand(
  {
    name: "remove",
    summary: "Keep pushes from deploying one application, or all of them.",
    examples: ["berth hook remove hello"]
  },
  { app, yes },
  (input) =>
    changeHooks(
      input,
      (whom) => `Remove the webhooks of ${whom}?`,
      (payload) => (api) => api.tearDownWebhooks({ payload })
    )
)

const testCommand = defineServiceCommand(
  {
    name: "test",
    summary: "Have the git host send a test delivery; the platform may deploy as after a push.",
    examples: ["berth hook test hello"]
  },
  { app: argument("app", "The exact name of an application.", "application") },
  (input) =>
    showFinding(
      input,
      (api) => api.testWebhook({ payload: { appName: input.app } }),
      ({ sent }) => sent,
      (test) => Effect.flatMap(Screen, ({ print }) => Effect.as(print(escapeInline(test.detail)), test))
    )
)

export const webhooksCommands = [
  defineCommandGroup({ name: "hook", summary: "Webhooks, by which pushes deploy: status, setup, test, remove." }, [
    statusCommand,
    setupCommand,
    testCommand,
    removeCommand
  ])
]
