import { Effect, Option } from "effect"
import { Berth } from "../../client/Berth.ts"
import {
  type AppRequest,
  differencesIn,
  type Drift,
  maxChangelogEntries,
  type PlatformPlan
} from "../../schema/upsert.ts"
import { formatRoundDuration, pluralize } from "../../schema/words.ts"
import { defineServiceCommand, showAnswer, yes } from "../options.ts"
import { confirm, escapeInline, exitCodes, Failed, makeStyler, Screen, wrapText } from "../output.ts"
import { flagOption, integerOption, optionalArgument, textOption } from "../parse.ts"
import {
  describeDrift,
  formatDriftTable,
  formatPlatformPlan,
  formatRemedies,
  formatUnknownFields,
  formatValue
} from "../plans.ts"
import { followRun } from "../runView.ts"
import { resolveProject } from "../stackLocation.ts"

/** Selects an application of a project; defaults to its first entry. */
const declared = {
  project: optionalArgument("project", "Its name under the projects root, or its path.", "project"),
  app: textOption("app", "The name of an entry of platform.json; the first one unless given.", {
    value: "name",
    names: "application"
  })
}

/** Resolves the options to the fields of a request. */
const resolveAppRequest = (
  input: { readonly project: Option.Option<string>; readonly app: Option.Option<string> }
) =>
  Effect.map(resolveProject(input.project), (projectPath) => ({
    projectPath,
    ...(Option.isSome(input.app) ? { appName: input.app.value } : {})
  }))

const titles = { create: "Create ", update: "Update ", none: "" }
/** Title of a plan: `Create hello`. */
const formatPlanTitle = ({ action, appName }: PlatformPlan) => `${titles[action]}${escapeInline(appName)}`

export const changelogCommand = defineServiceCommand(
  {
    name: "changelog",
    summary: "List what upserts did to the applications of a project, newest first.",
    examples: ["berth app changelog", "berth app changelog hello --app hello --limit 50"]
  },
  {
    ...declared,
    limit: integerOption("limit", "Number of entries to list; 20 unless given.", {
      value: "number",
      between: [1, maxChangelogEntries]
    }),
    before: integerOption("before", "Only entries before the one of this number.", {
      value: "number",
      between: [1, Infinity]
    })
  },
  Effect.fnUntraced(function*(input) {
    const { out, print, say } = yield* Screen
    const query = {
      ...(yield* resolveAppRequest(input)),
      ...(Option.isSome(input.limit) ? { limit: input.limit.value } : {}),
      ...(Option.isSome(input.before) ? { before: input.before.value } : {})
    }
    return yield* showAnswer(
      input,
      (api) => api.changelog({ urlParams: query }),
      ({ entries, next, unreadable }) =>
        Effect.gen(function*() {
          if (entries.length === 0) {
            yield* say("No upsert yet: berth app up does one.")
          } else {
            const style = makeStyler(out)
            const lines = entries.flatMap(({ action, appName, changes, number, timestamp }) => [
              `${number}  ${style("bold", escapeInline(appName))} ${action === "create" ? "created" : "updated"} ` +
              `at ${timestamp}`,
              ...changes.map(({ label, new: after, old: before }) =>
                `  ~ ${escapeInline(label)}: ${formatValue(before)} → ${formatValue(after)}`
              )
            ])
            yield* print(wrapText(lines.join("\n"), out))
          }
          if (unreadable > 0) {
            yield* say(`! ${pluralize(unreadable, "entry", "entries")} left out: not to be read`)
          }
          if (next !== null) {
            yield* say(`There are more: --before ${next}`)
          }
        })
    )
  })
)

const notYetThere = "The platform has no such application yet: berth app up creates it."

/** Explains the missing declaration of an application, and how to write it. */
const whyUndeclared = ({ appName, projectPath }: AppRequest, { configs }: Drift): string => {
  if (configs.length === 0) {
    return `${projectPath} has no platform.json, or an empty one, so there is nothing to compare. berth app adopt writes one ` +
      "from an application of the platform; docs/coolify.md shows one to write by hand"
  }
  const names = configs.map(({ name }) => `"${String(name)}"`).join(", ")
  return `The platform.json of ${projectPath} declares no application "${appName ?? ""}": it declares ${names}`
}

export const driftCommand = defineServiceCommand(
  {
    name: "drift",
    summary: "Show how an application differs from what its project declares.",
    details:
      "Compares the application, its variables, its route and its webhook. Ends with 2 when something differs, with " +
      "1 when there is nothing to compare with.",
    examples: ["berth app drift", "berth app drift hello --app hello"]
  },
  { ...declared },
  Effect.fnUntraced(function*(input) {
    const { answer } = yield* Berth
    const { out, print, say } = yield* Screen
    const payload = yield* resolveAppRequest(input)
    const { body, value: drift } = yield* answer((api) => api.drift({ payload }))
    const { appConfig, exists, warnings = [] } = drift
    if (input.json) yield* print(body)
    else {
      const differences = formatDriftTable(drift, out)
      if (differences !== undefined) yield* print(differences)
      yield* Effect.forEach([...formatRemedies(drift), ...formatUnknownFields(drift)], (line) => say(line))
      yield* Effect.forEach(warnings, (warning) => say(`! ${escapeInline(warning)}`))
      if (appConfig !== undefined) yield* say(exists ? describeDrift(drift) : notYetThere)
    }
    if (appConfig === undefined) return yield* new Failed({ message: whyUndeclared(payload, drift) })
    return exists && differencesIn(drift) === 0 ? exitCodes.done : exitCodes.differs
  })
)

export const planCommand = defineServiceCommand(
  {
    name: "plan",
    summary: "Show what berth app up would change; change nothing.",
    details: "Ends with 2 with --detailed-exitcode when something would change, or would still differ afterwards.",
    examples: ["berth app plan", "berth app plan hello --app hello"]
  },
  { ...declared, detailed: flagOption("detailed-exitcode", "End with 2 when something would change or still differ.") },
  Effect.fnUntraced(function*(input) {
    const { answer } = yield* Berth
    const { out, print } = yield* Screen
    const payload = yield* resolveAppRequest(input)
    const { body, value } = yield* answer((api) => api.platformPlan({ payload }))
    yield* print(
      input.json
        ? body
        : wrapText([`${formatPlanTitle(value)}:`, ...formatPlatformPlan(value, out)].join("\n"), out)
    )
    const differs = value.action !== "none" || value.stays !== undefined
    return input.detailed && differs ? exitCodes.differs : exitCodes.done
  })
)

/** Prints differences that an upsert did not resolve. */
const printRemaining = (drift: Drift) =>
  Effect.gen(function*() {
    const { err, say } = yield* Screen
    const differences = formatDriftTable(drift, err)
    if (differences !== undefined) yield* say(differences)
    yield* Effect.forEach([...formatRemedies(drift), ...formatUnknownFields(drift)], (line) => say(line))
  })

export const upCommand = defineServiceCommand(
  {
    name: "up",
    summary: "Bring an application to what its project declares: plan, question, run.",
    details: "Ends with 2 when something still differs afterwards; berth app drift shows it again.",
    examples: ["berth app up", "berth app up hello --yes"]
  },
  { ...declared, yes },
  Effect.fnUntraced(function*(input) {
    const { use } = yield* Berth
    const { err, print, say } = yield* Screen
    const payload = yield* resolveAppRequest(input)
    const plan = yield* use((api) => api.platformPlan({ payload }))
    const what = formatPlanTitle(plan)
    yield* say([`${what}:`, ...formatPlatformPlan(plan, err)].join("\n"))
    if (plan.action === "none" && !input.json) {
      return plan.stays === undefined ? exitCodes.done : exitCodes.differs
    }
    if (!(yield* confirm(`${what}?`, input.yes))) return exitCodes.failed
    const { body, value } = yield* followRun((api) => api.upsert({ payload: { ...payload, planHash: plan.planHash } }))
    if (input.json) yield* print(body)
    const at = value.domain === "" ? "" : ` It is reached at ${escapeInline(value.domain)}.`
    if (!value.success) {
      yield* say("Not every step was done.")
      return exitCodes.failed
    }
    const drift = yield* use((api) => api.drift({ payload }))
    yield* printRemaining(drift)
    const count = differencesIn(drift)
    const name = escapeInline(plan.appName)
    const limit = (drift.unknown ?? []).length === 0 ? "" : ", as far as it can be read"
    yield* say(
      count === 0
        ? `${name} is as declared${limit}.${at}`
        : `Every step was done; ${pluralize(count, "difference")} of ${name} ${count === 1 ? "stays" : "stay"}.${at}`
    )
    return count === 0 ? exitCodes.done : exitCodes.differs
  })
)

export const verifyCommand = defineServiceCommand(
  {
    name: "verify",
    summary: "Follow the way to an application: platform, port, route, HTTPS.",
    details: "Ends with 1 when a part of the way fails.",
    examples: ["berth app verify hello"]
  },
  { ...declared },
  Effect.fnUntraced(function*(input) {
    const { answer } = yield* Berth
    const { out, print } = yield* Screen
    const style = makeStyler(out)
    const payload = yield* resolveAppRequest(input)
    const { body, value: { failing, hops } } = yield* answer((api) => api.verify({ payload }))
    yield* print(
      input.json ? body : wrapText(
        hops.map(({ detail, hop, millis, ok }) =>
          `${ok ? style("green", "✓") : style("red", "✗")} ${hop}: ${escapeInline(detail)} ${
            style("dim", `(${formatRoundDuration(millis)})`)
          }`
        ).join("\n"),
        out
      )
    )
    return failing === null ? exitCodes.done : exitCodes.failed
  })
)
