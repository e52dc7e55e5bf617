import { Effect, Option } from "effect"
import { Berth } from "../../client/Berth.ts"
import { maxChangelogEntries } from "../../schema/Changelog.ts"
import { type AppRequest, differencesIn, type Drift } from "../../schema/Drift.ts"
import type { PlatformPlan } from "../../schema/PlatformPlan.ts"
import { answered, common, connected, yes } from "../common.ts"
import { confirmed } from "../confirm.ts"
import { exitCodes } from "../Failure.ts"
import { command } from "../parse/command.ts"
import { flag, integer, optionalArgument, text } from "../parse/described.ts"
import { driftTable, remedies, unknowns, verdict } from "../plans/driftLines.ts"
import { platformPlanLines, shownValue } from "../plans/platformPlan.ts"
import { projectNamed } from "../projects.ts"
import { followed } from "../runs/followRun.ts"
import { counted, duration } from "../terminal/quantities.ts"
import { safeText } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { styled } from "../terminal/style.ts"
import { prose } from "../terminal/wrapped.ts"

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

const titles = { create: "Create ", update: "Update ", none: "" }
const titleOf = ({ action, appName }: PlatformPlan) => `${titles[action]}${safeText(appName)}`

/** Tells what an upsert has left as it is. */
const tellRest = (drift: Drift) =>
  Effect.gen(function*() {
    const { err, say } = yield* Screen
    const differences = driftTable(drift, err)
    if (differences !== undefined) yield* say(differences)
    yield* Effect.forEach([...remedies(drift), ...unknowns(drift)], (line) => say(line))
  })

/** Reason why there is no application to compare with its declaration, and what makes one. */
const whyAbsent = ({ appName, projectPath }: AppRequest, { appConfig, configs }: Drift): string => {
  const path = safeText(projectPath)
  if (configs.length === 0) {
    return `${path} has no platform.json, or an empty one, so there is nothing to compare. berth app adopt writes one ` +
      "from an application of the platform; docs/coolify.md shows one to write by hand."
  }
  if (appConfig === undefined) {
    const names = configs.map(({ name }) => `"${safeText(String(name))}"`).join(", ")
    return `The platform.json of ${path} declares no application "${safeText(appName ?? "")}": it declares ${names}.`
  }
  return "The platform has no such application yet: berth app up creates it."
}

const planCommand = command(
  {
    name: "plan",
    summary: "Show what berth app up would change; change nothing.",
    details: "Ends with 2 with --detailed-exitcode when something would change, or would still differ afterwards.",
    examples: ["berth app plan", "berth app plan hello --app hello"]
  },
  {
    ...declared,
    detailed: flag("detailed-exitcode", "End with 2 when something would change or still differ."),
    ...common
  },
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
            : prose([`${titleOf(value)}:`, ...platformPlanLines(value, out)].join("\n"), out)
        )
        const differs = value.action !== "none" || value.stays !== undefined
        return input.detailed && differs ? exitCodes.differs : exitCodes.done
      })
    )
)

const upCommand = command(
  {
    name: "up",
    summary: "Bring an application to what its project declares: plan, question, run.",
    details: "Ends with 2 when something still differs afterwards; berth app drift shows it again.",
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
        const what = titleOf(plan)
        yield* say([`${what}:`, ...platformPlanLines(plan, err)].join("\n"))
        if (plan.action === "none" && !input.json) {
          return plan.stays === undefined ? exitCodes.done : exitCodes.differs
        }
        if (!(yield* confirmed(`${what}?`, input.yes))) return exitCodes.failed
        const { body, value } = yield* followed((api) =>
          api.upsert({ payload: { ...payload, planHash: plan.planHash } })
        )
        if (input.json) yield* print(body)
        const at = value.domain === "" ? "" : ` It is reached at ${safeText(value.domain)}.`
        if (!value.success) {
          yield* say("Not every step was done.")
          return exitCodes.failed
        }
        const drift = yield* use((api) => api.drift({ payload }))
        yield* tellRest(drift)
        const count = differencesIn(drift)
        const name = safeText(plan.appName)
        const limit = (drift.unknown ?? []).length === 0 ? "" : ", as far as it can be read"
        yield* say(
          count === 0
            ? `${name} is as declared${limit}.${at}`
            : `Every step was done; ${counted(count, "difference")} of ${name} ${count === 1 ? "stays" : "stay"}.${at}`
        )
        return count === 0 ? exitCodes.done : exitCodes.differs
      })
    )
)

const driftCommand = command(
  {
    name: "drift",
    summary: "Show how an application differs from what its project declares.",
    details:
      "Compares the application, its variables, its route and its webhook. Ends with 2 when something differs, with " +
      "1 when there is nothing to compare with.",
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
        const { body, value: drift } = yield* answer((api) => api.drift({ payload }))
        const { appConfig, exists, warnings = [] } = drift
        if (input.json) yield* print(body)
        else {
          const differences = driftTable(drift, out)
          if (differences !== undefined) yield* print(differences)
          yield* Effect.forEach([...remedies(drift), ...unknowns(drift)], (line) => say(line))
          yield* Effect.forEach(warnings, (warning) => say(`! ${safeText(warning)}`))
          yield* say(exists ? verdict(drift) : whyAbsent(payload, drift))
        }
        if (appConfig === undefined) return exitCodes.failed
        return exists && differencesIn(drift) === 0 ? exitCodes.done : exitCodes.differs
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
          input.json ? body : prose(
            hops.map(({ detail, hop, millis, ok }) =>
              `${ok ? style("green", "✓") : style("red", "✗")} ${hop}: ${safeText(detail)} ${
                style("dim", `(${duration(millis)})`)
              }`
            ).join("\n"),
            out
          )
        )
        return failing === null ? exitCodes.done : exitCodes.failed
      })
    )
)

const changelogCommand = command(
  {
    name: "changelog",
    summary: "List what upserts did to the applications of a project, newest first.",
    examples: ["berth app changelog", "berth app changelog hello --app hello --limit 50"]
  },
  {
    ...declared,
    limit: integer("limit", "How many entries to list; 20 unless given.", {
      value: "number",
      between: [1, maxChangelogEntries]
    }),
    before: integer("before", "Only entries before the one of this number.", {
      value: "number",
      between: [1, Infinity]
    }),
    ...common
  },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { out, print, say } = yield* Screen
        const query = {
          ...(yield* requestOf(input)),
          ...(Option.isSome(input.limit) ? { limit: input.limit.value } : {}),
          ...(Option.isSome(input.before) ? { before: input.before.value } : {})
        }
        return yield* answered(input, (api) =>
          api.changelog({ urlParams: query }), ({ entries, next, unreadable }) =>
          Effect.gen(function*() {
            if (entries.length === 0) {
              yield* say("No upsert yet: berth app up does one.")
            } else {
              const style = styled(out)
              const lines = entries.flatMap(({ action, appName, changes, number, timestamp }) => [
                `${number}  ${style("bold", safeText(appName))} ${action === "create" ? "created" : "updated"} ` +
                `at ${timestamp}`,
                ...changes.map(({ label, new: after, old: before }) =>
                  `  ~ ${safeText(label)}: ${shownValue(before)} → ${shownValue(after)}`
                )
              ])
              yield* print(prose(lines.join("\n"), out))
            }
            if (unreadable > 0) {
              yield* say(`! ${counted(unreadable, "entry", "entries")} left out: not to be read`)
            }
            if (next !== null) {
              yield* say(`There are more: --before ${next}`)
            }
          }))
      })
    )
)

/** An application as its project declares it: what differs from it, and how to get there. */
export const declaredApplicationCommands = [planCommand, upCommand, driftCommand, verifyCommand, changelogCommand]
