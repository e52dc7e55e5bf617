import { Effect, Option } from "effect"
import { join, resolve } from "node:path"
import { Berth } from "../../client/Berth.ts"
import { type ComparedFile } from "../../schema/compare.ts"
import { buildScriptName, containerConfigName, type InitResult, shellScriptName } from "../../schema/projects.ts"
import { formatServerReference } from "../../schema/servers.ts"
import { describeProgram, type ProjectProgram } from "../../schema/trust.ts"
import { formatBytes, pluralize } from "../../schema/words.ts"
import { defineServiceCommand, findStoredServer, showAnswer, yes } from "../options.ts"
import {
  confirm,
  escapeInline,
  exitCodes,
  formatDiff,
  makeStyler,
  quoteShellWord,
  Screen,
  type Style,
  type Surface
} from "../output.ts"
import { argument, flagOption, optionalArgument } from "../parse.ts"
import { followRun } from "../runView.ts"
import {
  findOnlyServer,
  locateNamedStack,
  locationOptions,
  pickProjectLocation,
  resolveDirectory,
  resolveProject,
  serverOptions
} from "../stackLocation.ts"

const project = optionalArgument("project", "Its name under the projects root, or its path.", "project")

const signs: Readonly<Record<ComparedFile["status"], readonly [string, Style]>> = {
  "same": ["=", "dim"],
  "different": ["~", "yellow"],
  "local-only": ["+", "green"],
  "remote-only": ["-", "red"]
}

const fileLines = ({ diff, keys, name, status }: ComparedFile, surface: Surface): ReadonlyArray<string> => {
  const style = makeStyler(surface)
  const [sign, color] = signs[status]
  const names = (words: string, all: ReadonlyArray<string>) =>
    all.length === 0 ? [] : [`    ${words}: ${all.map(escapeInline).join(", ")}`]
  return [
    `${style(color, `${sign} ${escapeInline(name)}`)}  ${style("dim", status)}`,
    ...(keys === undefined ? [] : [
      ...names("different values", keys.different),
      ...names("only here", keys.localOnly),
      ...names("only on the server", keys.remoteOnly)
    ]),
    ...formatDiff(diff ?? "", surface).map((line) => `    ${line}`)
  ]
}

const diffCommand = defineServiceCommand(
  {
    name: "diff",
    summary: "Show how a project differs from its deployed copy.",
    details: "Unified diffs of small text files; of env files the names of the variables alone. Ends with 2 when " +
      "something differs.",
    examples: ["berth diff", "berth diff hello"]
  },
  { project, ...locationOptions },
  Effect.fnUntraced(function*(input) {
    const { answer } = yield* Berth
    const { out, print, say } = yield* Screen
    const place = yield* locateNamedStack(input.project, input)
    const { body, value: { files, summary, warnings } } = yield* answer((api) =>
      api.compareProject({ payload: pickProjectLocation(place) })
    )
    const differing = files.filter(({ status }) => status !== "same")
    if (input.json) yield* print(body)
    else {
      if (differing.length > 0) yield* print(differing.flatMap((file) => fileLines(file, out)).join("\n"))
      yield* Effect.forEach(warnings, (warning) => say(`! ${escapeInline(warning)}`))
      yield* say(
        files.length === 0
          ? `There is nothing to compare: ${escapeInline(place.projectPath)} has no file to deploy.`
          : differing.length === 0
          ? `${pluralize(summary.same, "file")}, all the same as on ${escapeInline(place.serverName)}.`
          : `${differing.length} of ${pluralize(files.length, "file")} ${
            differing.length === 1 ? "differs" : "differ"
          }.`
      )
    }
    return differing.length === 0 ? exitCodes.done : exitCodes.differs
  })
)

/** Server for a new container.json: the given one, or one chosen interactively. */
const serverOf = (given: Option.Option<string>, yes: boolean) =>
  Effect.gen(function*() {
    if (Option.isSome(given)) return (yield* findStoredServer(given.value)).server.id
    const { ask, canAsk } = yield* Screen
    const servers = yield* (yield* Berth).use((api) => api.listServers({}))
    if (yes || !canAsk || servers.length < 2) return undefined
    const wanted = yield* Effect.findFirst(
      servers,
      (server) => ask(`Is it to be deployed to ${escapeInline(formatServerReference(servers, server))}?`)
    )
    return Option.getOrUndefined(Option.map(wanted, ({ id }) => id))
  })

const bridgedHint =
  `"bridged" in ${containerConfigName} names services of which two containers may run at once for a moment: a redeploy ` +
  "then fails no request. Leave out one whose migrations, locks or volumes bear a single version only."

/** Files that `init` creates, and files in which it fills in the server. */
const writtenFiles = ({ changed = [], created }: Pick<InitResult, "changed" | "created">) => [
  ...created.map((name) => `+ ${escapeInline(name)}`),
  ...changed.map((name) => `~ ${escapeInline(name)} (serverId)`)
]

/** Says which commands deploy a project that `init` has prepared, and that it names no server where a deploy would fail. */
const sayNext = (given: Option.Option<string>, { builds, created, kept, project }: InitResult) =>
  Effect.gen(function*() {
    const { say } = yield* Screen
    const isPlaced = project.serverId !== null || project.targets !== undefined ||
      (project.environments ?? []).length > 0 || (project.problems ?? []).length > 0
    if (!isPlaced) {
      yield* Effect.catchAll(
        findOnlyServer(project.name),
        ({ message }) => say(`! ${message.split("\n").map(escapeInline).join("\n")}.`)
      )
    }
    // Repeats the given path: a directory outside the projects root has no name.
    const words = Option.match(given, { onNone: () => "", onSome: (given) => ` ${quoteShellWord(given)}` })
    const hasScript = [...created, ...kept].some((name) => [buildScriptName, shellScriptName].includes(name))
    yield* say(
      `Next: ${hasScript ? `berth build${words}, then ` : ""}berth deploy${words}${builds === true ? " --build" : ""}`
    )
  })

const initCommand = defineServiceCommand(
  {
    name: "init",
    summary: "Write what a directory needs to be deployed: what is missing, question, files.",
    details:
      "Nothing that is there is changed, except for an empty serverId. container.json names the server of --server, or " +
      "else the only stored one.",
    examples: ["berth init", "berth init notes --server main --yes", "berth init notes --dry-run"]
  },
  {
    project,
    yes,
    dryRun: flagOption("dry-run", "Show which files would be written, and write none."),
    ...serverOptions
  },
  Effect.fnUntraced(function*(input) {
    const { print, say } = yield* Screen
    const { answer } = yield* Berth
    const projectPath = yield* resolveDirectory(input.project)
    const asked = { projectPath, remotePath: Option.getOrUndefined(input.path) }
    const serverId = yield* serverOf(input.server, input.yes || input.dryRun)
    const { body, value: plan } = yield* answer((api) =>
      api.initProject({ payload: { ...asked, serverId, plan: true } })
    )
    const lines = writtenFiles(plan)
    if (input.dryRun) {
      if (input.json) yield* print(body)
      else if (lines.length > 0) yield* print(lines.join("\n"))
      if (!input.json) yield* say(`Would write ${pluralize(lines.length, "file")} to ${escapeInline(projectPath)}.`)
      return exitCodes.done
    }
    if (lines.length > 0) {
      if (!input.yes) yield* say(lines.join("\n"))
      const question = `Write ${pluralize(lines.length, "file")} to ${escapeInline(projectPath)}?`
      if (!(yield* confirm(question, input.yes))) return exitCodes.failed
    }
    return yield* showAnswer(
      input,
      (api) => api.initProject({ payload: { ...asked, serverId } }),
      (result) =>
        Effect.gen(function*() {
          const written = writtenFiles(result)
          if (written.length > 0) {
            yield* print(written.join("\n"))
          }
          if (result.kept.length > 0) {
            yield* say(`Left as they are: ${result.kept.map(escapeInline).join(", ")}`)
          }
          if (result.created.includes(containerConfigName)) {
            yield* say(bridgedHint)
          }
          yield* sayNext(input.project, result)
        })
    )
  })
)

const pullCommand = defineServiceCommand(
  {
    name: "pull",
    summary: "Fetch a file or directory of a project's deployed copy.",
    details: "What is here already is replaced once all of it has arrived.",
    examples: ["berth pull data hello --directory", "berth pull .env"]
  },
  {
    name: argument("name", "The file, or with --directory the directory, relative to the stack's directory."),
    project,
    directory: flagOption("directory", "It is a directory: bring its content.", "d"),
    ...locationOptions
  },
  Effect.fnUntraced(function*(input) {
    const { print, say } = yield* Screen
    const { projectPath, remotePath, serverId } = yield* locateNamedStack(input.project, input)
    const file = {
      name: input.name,
      remotePath: `${remotePath.replace(/\/$/, "")}/${input.name}`,
      localPath: resolve(join(projectPath, input.name)),
      type: input.directory ? "directory" as const : "file" as const
    }
    const { body, value: { errors, pulled } } = yield* followRun((api) =>
      api.pull({ payload: { serverId, files: [file] } })
    )
    if (input.json) yield* print(body)
    else {
      yield* Effect.forEach(
        pulled,
        (item) => say(`${escapeInline(item.localPath)}: ${pluralize(item.files, "file")}, ${formatBytes(item.bytes)}`)
      )
      yield* Effect.forEach(errors, ({ error, name }) => say(`✗ ${escapeInline(name)}: ${escapeInline(error)}`))
    }
    return errors.length === 0 ? exitCodes.done : exitCodes.failed
  })
)

const programSigns: Readonly<Record<ProjectProgram["state"], readonly [string, Style]>> = {
  trusted: ["=", "dim"],
  changed: ["~", "yellow"],
  new: ["+", "green"]
}

const programLine = (program: ProjectProgram, surface: Surface) => {
  const [sign, color] = programSigns[program.state]
  const style = makeStyler(surface)
  return `${style(color, `${sign} ${escapeInline(describeProgram(program))}`)}  ${style("dim", program.state)}`
}

const trustCommand = defineServiceCommand(
  {
    name: "trust",
    summary: "Let callers with a token use what a project runs on Berth's machine.",
    details:
      "Shows the build scripts, hooks and links that lead out of the project, and trusts them as they are. A change of " +
      "one ends it. Only for the user of that machine, who never needs it.",
    examples: ["berth trust hello", "berth trust hello --show"]
  },
  {
    project,
    show: flagOption("show", "Show them, and change nothing. Ends with 2 when one is not trusted."),
    yes
  },
  Effect.fnUntraced(function*(input) {
    const { out, print, say } = yield* Screen
    const { answer } = yield* Berth
    const projectPath = yield* resolveProject(input.project)
    const { body, value: shown } = yield* answer((api) => api.showPrograms({ payload: { projectPath } }))
    const place = escapeInline(projectPath)
    if (!input.json || !input.show) {
      const lines = shown.programs.map((program) => programLine(program, out))
      if (lines.length > 0) yield* input.json ? say(lines.join("\n")) : print(lines.join("\n"))
      else yield* say(`Nothing of ${place} runs on this machine or leads out of it.`)
    }
    if (input.show) {
      if (input.json) yield* print(body)
      return shown.trusted ? exitCodes.done : exitCodes.differs
    }
    if (shown.trusted) {
      if (input.json) yield* print(body)
      else if (shown.programs.length > 0) yield* say("All of that is trusted already.")
      return exitCodes.done
    }
    const question = `Let callers with a token use ${pluralize(shown.programs.length, "program")} of ${place}?`
    if (!(yield* confirm(question, input.yes))) return exitCodes.failed
    return yield* showAnswer(
      input,
      (api) => api.trustProject({ payload: { projectPath, digest: shown.digest } }),
      ({ programs }) => say(`Trusted: ${pluralize(programs.length, "program")} of ${place}, until one of them changes.`)
    )
  })
)

export const projectsCommands = [diffCommand, pullCommand, initCommand, trustCommand]
