import { Effect, Option, Predicate } from "effect"
import { Berth } from "../../client/Berth.ts"
import { answered, type Common, common, connected, yes } from "../common.ts"
import { confirmed } from "../confirm.ts"
import { exitCodes, Failed } from "../Failure.ts"
import { command, group } from "../parse/command.ts"
import { argument, flag, optionalArgument, text } from "../parse/described.ts"
import { platformPlanLines, shownValue } from "../plans/platformPlan.ts"
import { projectNamed } from "../projects.ts"
import { followed } from "../runs/followRun.ts"
import { duration } from "../terminal/quantities.ts"
import { safeText } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { styled } from "../terminal/style.ts"
import { table } from "../terminal/table.ts"

/** Which application of a project is meant; the first one unless named. */
const declared = {
  project: optionalArgument("project", "Its name under the projects root, or its path.", "project"),
  app: text("app", "The name of an entry of platform.json; the first one unless given.", {
    value: "name",
    names: "application"
  })
}

const requestOf = (input: { readonly project: Option.Option<string>; readonly app: Option.Option<string> }) =>
  Effect.map(projectNamed(input.project), (projectPath) => ({
    projectPath,
    ...(Option.isSome(input.app) ? { appName: input.app.value } : {})
  }))

const name = argument("name", "The exact name of an application of the platform.", "application")

/** The uuid of the application of this name. */
const uuidOf = (appName: string) =>
  Effect.gen(function*() {
    const found = yield* (yield* Berth).use((api) => api.findApplication({ path: { name: appName } }))
    if (found !== null && Predicate.isString(found["uuid"])) return found["uuid"]
    return yield* new Failed({
      message: `The platform has no application named "${safeText(appName)}": berth app list names those that it has`
    })
  })

const planCommand = command(
  {
    name: "plan",
    summary: "Show what berth app up would change; change nothing.",
    details: "Ends with 2 with --detailed-exitcode when something would change.",
    examples: ["berth app plan", "berth app plan hello --app hello"]
  },
  { ...declared, detailed: flag("detailed-exitcode", "End with 2 when something would change."), ...common },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { answer } = yield* Berth
        const { out, print } = yield* Screen
        const payload = yield* requestOf(input)
        const { body, value } = yield* answer((api) => api.platformPlan({ payload }))
        yield* print(
          input.json
            ? body
            : [`${value.action} ${safeText(value.appName)}:`, ...platformPlanLines(value, out)].join("\n")
        )
        return input.detailed && value.action !== "none" ? exitCodes.differs : exitCodes.done
      })
    )
)

const upCommand = command(
  {
    name: "up",
    summary: "Bring an application to what its project declares: plan, question, run.",
    examples: ["berth app up", "berth app up hello --yes"]
  },
  { ...declared, yes, ...common },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { use } = yield* Berth
        const { err, print, say } = yield* Screen
        const payload = yield* requestOf(input)
        const plan = yield* use((api) => api.platformPlan({ payload }))
        const what = `${plan.action === "create" ? "Create" : "Update"} ${safeText(plan.appName)}`
        yield* say([`${what}:`, ...platformPlanLines(plan, err)].join("\n"))
        if (plan.action === "none" && !input.json) return exitCodes.done
        if (!(yield* confirmed(`${what}?`, input.yes))) return exitCodes.failed
        const { body, value } = yield* followed((api) =>
          api.upsert({ payload: { ...payload, planHash: plan.planHash } })
        )
        if (input.json) yield* print(body)
        const at = value.domain === "" ? "" : ` It is reached at ${safeText(value.domain)}.`
        yield* say(value.success ? `${safeText(plan.appName)} is as declared.${at}` : "Not every step was done.")
        return value.success ? exitCodes.done : exitCodes.failed
      })
    )
)

const driftCommand = command(
  {
    name: "drift",
    summary: "Show how an application differs from what its project declares.",
    details: "Ends with 2 when something differs.",
    examples: ["berth app drift", "berth app drift hello --app hello"]
  },
  { ...declared, ...common },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { answer } = yield* Berth
        const { out, print, say } = yield* Screen
        const payload = yield* requestOf(input)
        const { body, value: { diffs, exists, unknown = [], warnings = [] } } = yield* answer((api) =>
          api.drift({ payload })
        )
        if (input.json) yield* print(body)
        else {
          const rows = diffs.map(({ applied, changed, label, local, remote }) => [
            label,
            shownValue(local),
            shownValue(remote),
            applied === undefined ? "" : shownValue(applied),
            changed ?? ""
          ])
          if (rows.length > 0) yield* print(table(["FIELD", "DECLARED", "LIVE", "APPLIED", "CHANGED"], rows, out))
          yield* Effect.forEach(unknown, ({ label, reason }) => say(`? ${safeText(`${label}: ${reason}`)}`))
          yield* Effect.forEach(warnings, (warning) => say(`! ${safeText(warning)}`))
          if (!exists) yield* say("The platform has no such application yet: berth app up creates it.")
          else if (diffs.length === 0) yield* say("Nothing differs.")
        }
        return exists && diffs.length === 0 ? exitCodes.done : exitCodes.differs
      })
    )
)

const verifyCommand = command(
  {
    name: "verify",
    summary: "Follow the way to an application: platform, port, route, HTTPS.",
    details: "Ends with 1 when a part of the way fails.",
    examples: ["berth app verify hello"]
  },
  { ...declared, ...common },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { answer } = yield* Berth
        const { out, print } = yield* Screen
        const style = styled(out)
        const payload = yield* requestOf(input)
        const { body, value: { failing, hops } } = yield* answer((api) => api.verify({ payload }))
        yield* print(
          input.json ?
            body :
            hops.map(({ detail, hop, millis, ok }) =>
              `${ok ? style("green", "✓") : style("red", "✗")} ${hop}: ${safeText(detail)} ${
                style("dim", `(${duration(millis)})`)
              }`
            ).join("\n")
        )
        return failing === null ? exitCodes.done : exitCodes.failed
      })
    )
)

const cell = (value: unknown) => (Predicate.isString(value) ? value : "")

const listCommand = command(
  { name: "list", summary: "List the applications of the platform.", examples: ["berth app list"] },
  common,
  (input) =>
    connected(
      input,
      Effect.flatMap(Screen, ({ out, print, say }) =>
        answered(input, (api) =>
          api.listApplications({}), (apps) =>
          apps.length === 0
            ? say("The platform has no application.")
            : print(table(
              ["NAME", "STATUS", "PORT", "ADDRESS", "UUID"],
              apps.map((
                app
              ) => [cell(app.name), cell(app.status), app._host_port ?? "", cell(app.fqdn), cell(app.uuid)]),
              out
            ))))
    )
)

const showCommand = command(
  {
    name: "show",
    summary: "Show an application of the platform, as the platform tells it.",
    examples: ["berth app show hello"]
  },
  { name, ...common },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { print } = yield* Screen
        return yield* answered(input, (api) =>
          api.findApplication({ path: { name: input.name } }), (found) =>
          found === null
            ? new Failed({ message: `The platform has no application named "${safeText(input.name)}"` })
            : print(JSON.stringify(found, null, 2)))
      })
    )
)

const envsCommand = command(
  {
    name: "envs",
    summary: "List an application's environment variables: their names.",
    examples: ["berth app envs hello"]
  },
  { name, values: flag("values", "Print the values too, secrets among them."), ...common },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { print } = yield* Screen
        const uuid = yield* uuidOf(input.name)
        return yield* answered(input, (api) => api.listEnvs({ path: { uuid } }), (envs) => {
          const all = Array.isArray(envs) ? envs.filter(Predicate.isRecord) : []
          const lines = all.map((env) => {
            const key = safeText(cell(env["key"]))
            return input.values ? `${key}=${safeText(cell(env["value"]))}` : key
          })
          return lines.length === 0 ? Effect.void : print(lines.join("\n"))
        })
      })
    )
)

/** Does something to an application of the platform, after a question. */
const applicationCall = (
  words: { readonly name: "deploy" | "delete"; readonly summary: string },
  question: (name: string) => string,
  done: (name: string) => string
) =>
  command({ ...words, examples: [`berth app ${words.name} hello`] }, { name, yes, ...common }, (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { say } = yield* Screen
        const uuid = yield* uuidOf(input.name)
        if (!(yield* confirmed(question(safeText(input.name)), input.yes))) return exitCodes.failed
        return yield* answered(
          input,
          (api) =>
            words.name === "deploy"
              ? api.deployApplication({ path: { uuid } })
              : api.deleteApplication({ path: { uuid } }),
          () => say(done(safeText(input.name)))
        )
      })
    ))

const adoptCommand = command(
  {
    name: "adopt",
    summary: "Declare an application of the platform in a project's platform.json.",
    examples: ["berth app adopt hello", "berth app adopt hello ./hello --replace"]
  },
  {
    name,
    project: declared.project,
    replace: flag("replace", "Replace the entry of its name, when there is one."),
    ...common
  },
  (input: Common & { readonly name: string; readonly project: Option.Option<string>; readonly replace: boolean }) =>
    connected(
      input,
      Effect.gen(function*() {
        const { say } = yield* Screen
        const projectPath = yield* projectNamed(input.project)
        const uuid = yield* uuidOf(input.name)
        const payload = { uuid, projectPath, replace: input.replace }
        return yield* answered(
          input,
          (api) => api.adopt({ payload }),
          ({ action, unknown, warnings }) =>
            Effect.gen(function*() {
              yield* say(`The entry ${safeText(input.name)} was ${action} in ${safeText(projectPath)}/platform.json.`)
              yield* Effect.forEach(unknown, ({ label, reason }) => say(`? ${safeText(`${label}: ${reason}`)}`))
              yield* Effect.forEach(warnings, (warning) => say(`! ${safeText(warning)}`))
            })
        )
      })
    )
)

export const applicationsCommands = [
  group({
    name: "app",
    summary: "The applications of the platform, and as projects declare them.",
    examples: ["berth app plan", "berth app up hello"]
  }, [
    planCommand,
    upCommand,
    driftCommand,
    verifyCommand,
    listCommand,
    showCommand,
    envsCommand,
    adoptCommand,
    applicationCall(
      { name: "deploy", summary: "Ask the platform to build and start an application." },
      (name) => `Deploy ${name} on the platform?`,
      (name) => `The platform deploys ${name}.`
    ),
    applicationCall(
      { name: "delete", summary: "Delete an application from the platform." },
      (name) => `Delete ${name} from the platform, with all that it keeps of it?`,
      (name) => `Deleted ${name} from the platform.`
    )
  ])
]
