import { Effect } from "effect"
import { Berth, nameOfThisProcess } from "../../client/Berth.ts"
import {
  classifyFinding,
  describeCare,
  type Finding,
  FirstStep,
  firstSteps,
  type NeedsCare,
  type ObservedProject,
  type Overview,
  toProjectState
} from "../../schema/overview.ts"
import { formatServerReference } from "../../schema/servers.ts"
import { defineServiceCommand } from "../options.ts"
import {
  escapeInline,
  exitCodes,
  formatTable,
  makeStyler,
  quoteShellWord,
  Screen,
  type Surface,
  wrapText
} from "../output.ts"
import { formatRunLabel } from "../runView.ts"
import { formatProjectReference } from "../stackLocation.ts"

const changeWords = (changes: number | null) => changes === null ? "" : changes === 0 ? "none" : String(changes)

/** Formats the stacks of a project as rows. The first stack determines the state of the project. */
export const buildStackRows = (
  { changes, name, run, servers, state, stateReason, urls }: ObservedProject
): ReadonlyArray<ReadonlyArray<string>> => {
  const now = run === null ? "" : `${formatRunLabel(run)} ${run.state}`
  const projectState = stateReason === null ? state : `${state}: ${stateReason}`
  const link = urls[0] ?? ""
  if (servers.length === 0) return [[name, "", projectState, changeWords(changes), "", now, link]]
  return servers.map((stack, index) => [
    index === 0 ? name : "",
    `${stack.serverName ?? stack.serverId}${stack.environment === undefined ? "" : ` (${stack.environment})`}`,
    (index === 0 ? projectState : stack.error ?? toProjectState(stack.state)) +
    (stack.containers === null || stack.containers.total === 0
      ? ""
      : ` (${stack.containers.up}/${stack.containers.total})`),
    index === 0 ? changeWords(changes) : "",
    stack.release ?? "",
    index === 0 ? now : "",
    index === 0 ? link : ""
  ])
}

/** Formats applications as rows. An error that they share is printed once, below. */
export const buildApplicationRows = ({ applications, errors }: Overview): ReadonlyArray<ReadonlyArray<string>> =>
  applications.map(({ drift, error, name, status }) => [
    name,
    error === undefined ? status ?? "not on the platform" : errors.includes(error) ? "not known" : error,
    drift === null ? "" : drift === 0 ? "no drift" : `${drift} differ`
  ])

/** Command for the next action on a problem; empty if no command helps. */
const commandFor = ({ projects, servers }: Overview) =>
(
  { appName, environment, kind, name, projectPath, remotePath, runId, serverId }: NeedsCare
): string => {
  switch (kind) {
    case "server":
      return `berth server test ${quoteShellWord(name)}`
    case "run":
      return `berth runs ${runId}`
    case "stack": {
      const project = projects.find(({ path }) => path === projectPath)
      const server = project?.servers.find((stack) => stack.serverId === serverId)
      if (project === undefined || server === undefined || project.state === "unknown") return ""
      const verb = project.state === "stopped" ? "start" : "logs"
      const named = quoteShellWord(formatProjectReference(projects, project.path))
      if (environment !== undefined) return `berth ${verb} ${named} --env ${quoteShellWord(environment)}`
      const at = formatServerReference(servers, { id: server.serverId, name: server.serverName ?? server.serverId })
      const path = quoteShellWord(remotePath ?? server.remotePath)
      return `berth ${verb} ${named} --server ${quoteShellWord(at)} --path ${path}`
    }
    case "route":
      return "berth route list"
    case "application": {
      const project = projectPath === undefined ? "." : formatProjectReference(projects, projectPath)
      return `berth app drift ${quoteShellWord(project)} --app ${quoteShellWord(appName ?? name)}`
    }
    case "files":
    case "disk":
      return ""
  }
}

/** Problems with their next commands, most severe first. */
export const describeNeedsCare = (overview: Overview): ReadonlyArray<string> => {
  const command = commandFor(overview)
  return [
    ...overview.errors,
    ...overview.needsCare.map((care) => {
      const next = command(care)
      return `${describeCare(care)}${next === "" ? "" : `: ${next}`}`
    })
  ]
}

const stepWords: Readonly<Record<FirstStep, string>> = {
  projects: "Name the directory of the projects",
  server: "Add a server",
  deploy: "Deploy a project"
}

/** Formats the first steps with their states; empty once they are done. */
export const formatFirstSteps = (
  { firstStep, servers }: Pick<Overview, "firstStep" | "servers">,
  surface: Surface
): ReadonlyArray<string> => {
  if (firstStep === undefined) return []
  const style = makeStyler(surface)
  const next = FirstStep.literals.indexOf(firstStep)
  return [
    style("bold", "First steps"),
    ...FirstStep.literals.map((step, index) => {
      const isDone = index < next || (step === "server" && servers.length > 0)
      const sign = isDone ? style("green", "✓") : index === next ? style("yellow", "→") : "-"
      return `  ${sign} ${stepWords[step]}`
    })
  ]
}

/** Suggested next commands, three at most. */
export const suggestNext = ({ firstStep, projects, servers }: Overview): ReadonlyArray<string> => {
  if (firstStep === "projects") return ["berth settings set projects.root ~/projects --create", "berth doctor"]
  if (servers.length === 0) return ["berth server add <name> <user@host>", "berth doctor"]
  const reference = ({ path }: ObservedProject) => quoteShellWord(formatProjectReference(projects, path))
  const waiting = projects.find(({ state }) => state === "not deployed")
  const running = projects.find(({ state }) => state === "running")
  return [
    ...(waiting === undefined
      ? []
      : [`berth ${firstStep === "deploy" && waiting.servers.length === 0 ? "init" : "deploy"} ${reference(waiting)}`]),
    ...(running === undefined
      ? []
      : [`berth diff ${reference(running)}`, `berth logs ${reference(running)} -f`]),
    "berth ps",
    "berth doctor"
  ].slice(0, 3)
}

/** Runs for `berth` without a command. */
export const overviewCommand = defineServiceCommand(
  {
    name: "overview",
    summary: "Show the state of projects, where they run, and what needs care.",
    examples: ["berth", "berth overview --json"]
  },
  {},
  Effect.fnUntraced(function*(input) {
    const { answer, where } = yield* Berth
    const { out, print } = yield* Screen
    const style = makeStyler(out)
    const { body, value } = yield* answer((api) => api.overview({}))
    if (input.json) return yield* print(body)
    const care = describeNeedsCare(value)
    const steps = formatFirstSteps(value, out)
    const applications = buildApplicationRows(value)
    yield* print([
      value.projects.length === 0
        ? "No project yet: the setting projects.root names the directory that they are in."
        : formatTable(
          ["PROJECT", "SERVER", "STATE", "CHANGES", "RELEASE", "NOW", "LINK"],
          value.projects.flatMap(buildStackRows),
          out
        ),
      ...(applications.length === 0 ? [] : ["", formatTable(["APPLICATION", "STATUS", "DRIFT"], applications, out)]),
      "",
      ...steps,
      ...(steps.length > 0 && care.length > 0 ? [""] : []),
      ...(care.length === 0
        ? steps.length > 0 ? [] : [style("green", "Nothing needs care.")]
        : [
          style("bold", "Needs care"),
          ...care.map((line) => wrapText(`  ${style("yellow", "!")} ${escapeInline(line)}`, out))
        ]),
      "",
      wrapText(
        style(
          "dim",
          `Seen at ${value.observedAt} by ${
            where === nameOfThisProcess ? "this command" : `the service at ${where}`
          }. Next:`
        ),
        out
      ),
      ...suggestNext(value).map((line) => `  ${line}`)
    ].join("\n"))
  })
)

const unusedWords =
  "What is not set up waits for its settings, and the rest works without it: docs/settings.md has them all."

const doctorCommand = defineServiceCommand(
  {
    name: "doctor",
    summary: "Check the settings, the servers, the platform and the git host, and say what to mend.",
    details: "Ends with 1 when a check failed. What no setting names is not set up, and is not a failure.",
    examples: ["berth doctor"]
  },
  {},
  Effect.fnUntraced(function*(input) {
    const { answer, where } = yield* Berth
    const { out, print, say } = yield* Screen
    const style = makeStyler(out)
    const { body, value } = yield* answer((api) => api.health({ urlParams: { deep: "true" } }))
    const findings = value.dependencies ?? []
    const count = (standing: ReturnType<typeof classifyFinding>) =>
      findings.filter((finding) => classifyFinding(finding) === standing).length
    const [failed, unused] = [count("failed"), count("unused")]
    const linesOf = (finding: Finding): ReadonlyArray<string> => {
      const { detail, fix, name, ok } = finding
      const title = style("bold", escapeInline(name))
      const isUnused = classifyFinding(finding) === "unused"
      if (isUnused && !firstSteps.has(name)) return [`${style("dim", "-")} ${title}: not set up`]
      const sign = isUnused ? style("dim", "-") : ok ? style("green", "✓") : style("red", "✗")
      return [
        `${sign} ${title}: ${escapeInline(detail)}`,
        ...(fix === undefined ? [] : [`  ${style("yellow", "→")} ${escapeInline(fix)}`])
      ]
    }
    if (input.json) yield* print(body)
    else {
      yield* print(findings.flatMap(linesOf).map((line) => wrapText(line, out)).join("\n"))
      yield* say(
        failed === 0
          ? `Berth ${value.version} ${where === nameOfThisProcess ? "in" : "at"} ${where}: all ${
            unused === 0 ? "is well." : "that is set up is well."
          }`
          : failed < findings.length - unused
          ? `${failed} of ${findings.length - unused} checks failed.`
          : failed === 1
          ? "The only check failed."
          : `All ${failed} checks failed.`
      )
      if (unused > 0) yield* say(unusedWords)
    }
    return failed === 0 ? exitCodes.done : exitCodes.failed
  })
)

export const healthCommands = [doctorCommand]
