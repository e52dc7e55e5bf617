import { Effect } from "effect"
import { Berth } from "../../client/Berth.ts"
import { callNameOf } from "../../schema/findServer.ts"
import type { ObservedProject, Overview } from "../../schema/Overview.ts"
import { common, connected } from "../common.ts"
import { command } from "../parse/command.ts"
import { runWords } from "../runs/stepLines.ts"
import { safeText } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { shellWord } from "../terminal/shellWord.ts"
import { styled } from "../terminal/style.ts"
import { table } from "../terminal/table.ts"
import { prose } from "../terminal/wrapped.ts"

const stacksOf = ({ error, name, run, servers }: ObservedProject): ReadonlyArray<ReadonlyArray<string>> => {
  const now = run === null ? "" : `${runWords(run)} ${run.state}`
  if (servers.length === 0) return [[name, "", error === undefined ? "not deployed" : "not known", "", now]]
  return servers.map((stack, index) => [
    index === 0 ? name : "",
    stack.serverName ?? stack.serverId,
    stack.error ??
      `${stack.state ?? "not observed"}${
        stack.containers === null || stack.containers.total === 0
          ? ""
          : ` (${stack.containers.up}/${stack.containers.total})`
      }`,
    stack.release ?? "",
    index === 0 ? now : ""
  ])
}

/** The applications as rows; what is wrong with all of them stands below, once. */
export const applicationRows = ({ applications, errors }: Overview): ReadonlyArray<ReadonlyArray<string>> =>
  applications.map(({ drift, error, name, status }) => [
    name,
    error === undefined ? status ?? "not on the platform" : errors.includes(error) ? "not known" : error,
    drift === null ? "" : drift === 0 ? "no drift" : `${drift} differ`
  ])

/** What somebody should look at, the gravest first. */
export const careIn = ({ applications, errors, projects, servers }: Overview): ReadonlyArray<string> => [
  ...errors,
  ...servers.filter(({ answers, error }) => !answers || error !== undefined).map(({ error, name }) =>
    `${name}: ${error ?? "does not answer"}`
  ),
  ...projects.flatMap(({ error, name }) => error === undefined ? [] : [`${name}: ${error}`]),
  ...projects.flatMap(({ name, servers: stacks }) =>
    stacks.filter(({ state }) => state === "degraded" || state === "stopped").map((
      { remotePath, serverId, serverName, state }
    ) =>
      `${name} is ${state} on ${serverName ?? serverId}: berth ${state === "stopped" ? "start" : "logs"} ${
        shellWord(name)
      } --server ${shellWord(callNameOf(servers, { id: serverId, name: serverName ?? serverId }))} --path ${
        shellWord(remotePath)
      }`
    )
  ),
  ...applications.filter(({ drift }) => drift !== null && drift > 0).map(({ drift, name, projectPath }) =>
    `${name} has ${drift} difference${drift === 1 ? "" : "s"} from its platform.json: berth app drift${
      projectPath === null ? "" : ` ${shellWord(projectPath)}`
    } --app ${shellWord(name)}`
  )
]

/** The commands that make sense next, three at most. */
const nextIn = ({ projects, servers }: Overview): ReadonlyArray<string> => {
  if (servers.length === 0) return ["berth server add <name> <user@host>", "berth doctor"]
  const waiting = projects.find(({ servers }) => servers.every(({ state }) => state === "absent" || state === null))
  const running = projects.find(({ servers }) => servers.some(({ state }) => state === "running"))
  return [
    ...(waiting === undefined ? [] : [`berth deploy ${shellWord(waiting.name)}`]),
    ...(running === undefined
      ? []
      : [`berth diff ${shellWord(running.name)}`, `berth logs ${shellWord(running.name)} -f`]),
    "berth ps",
    "berth doctor"
  ].slice(0, 3)
}

/** What `berth` does alone. */
export const overviewCommand = command(
  {
    name: "overview",
    summary: "Show what stands: projects, where they run, and what needs care.",
    examples: ["berth", "berth overview --json"]
  },
  common,
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { answer, where } = yield* Berth
        const { out, print } = yield* Screen
        const style = styled(out)
        const { body, value } = yield* answer((api) => api.overview({}))
        if (input.json) return yield* print(body)
        const care = careIn(value)
        const applications = applicationRows(value)
        yield* print([
          value.projects.length === 0
            ? "No project yet: the setting projects.root names the directory that they are in."
            : table(["PROJECT", "SERVER", "STATE", "RELEASE", "NOW"], value.projects.flatMap(stacksOf), out),
          ...(applications.length === 0 ? [] : ["", table(["APPLICATION", "STATUS", "DRIFT"], applications, out)]),
          "",
          ...(care.length === 0
            ? [style("green", "Nothing needs care.")]
            : [
              style("bold", "Needs care"),
              ...care.map((line) => prose(`  ${style("yellow", "!")} ${safeText(line)}`, out))
            ]),
          "",
          prose(
            style(
              "dim",
              `Seen at ${value.observedAt} by ${
                where === "this process" ? "this command" : `the service at ${where}`
              }. Next:`
            ),
            out
          ),
          ...nextIn(value).map((line) => `  ${line}`)
        ].join("\n"))
      })
    )
)
