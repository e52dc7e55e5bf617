import { Effect, Option } from "effect"
import { basename, resolve } from "node:path"
import { Berth } from "../../client/Berth.ts"
import type { BerthError } from "../../client/BerthError.ts"
import { homeDirectory } from "../../client/node/connect.ts"
import { describeSource, type Release } from "../../schema/releases.ts"
import { formatServerReference } from "../../schema/servers.ts"
import type { ServerStack, StackAdoption } from "../../schema/stacks.ts"
import { formatBytes, pluralize } from "../../schema/words.ts"
import { defineServiceCommand, describeNoServers, findStoredServer, showAnswer, yes } from "../options.ts"
import {
  confirmChange,
  escapeInline,
  exitCodes,
  Failed,
  formatTable,
  makeStyler,
  printTable,
  quoteShellWord,
  Screen,
  type Surface,
  Usage,
  wrapText
} from "../output.ts"
import { argument, flagOption, optionalArgument, textOption } from "../parse.ts"
import { formatReleaseComparison, formatRollbackPlan } from "../plans.ts"
import {
  printDeployEnd,
  projectName,
  reportEnd,
  reportFailure,
  reportOptions,
  reportResult,
  reportRollbackPlan
} from "../reports.ts"
import { followRun } from "../runView.ts"
import {
  confirmOption,
  describeLocation,
  leaveOutProject,
  locateNamedStack,
  locationOptions,
  pickStackLocation,
  referToProject,
  type StackLocation
} from "../stackLocation.ts"
import { stackActionCommands } from "./deploy.ts"

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

const isReleaseId = (text: string) => /^\d+$/.test(text)

/** True if a release was deployed from a git checkout. */
const hasSource = (releases: ReadonlyArray<Pick<Release, "source">>): boolean =>
  releases.some(({ source }) => source !== undefined)

/** True if a release was deployed as an environment. */
const hasEnvironment = (releases: ReadonlyArray<Pick<Release, "environment">>): boolean =>
  releases.some(({ environment }) => environment !== undefined)

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
    const { next: from, project } = yield* leaveOutProject(input.project, input.from, isReleaseId)
    const place = yield* locateNamedStack(project, input)
    if (Option.isSome(from)) return yield* compareReleases(input.json, place, from.value, input.to)
    const { remotePath, serverId } = place
    return yield* showAnswer(
      input,
      (api) => api.listReleases({ path: { id: serverId }, urlParams: { remotePath } }),
      ({ releases }) =>
        releases.length === 0
          ? say("No release yet: each deploy leaves one.")
          : print(formatTable(
            [
              "RELEASE",
              "AT",
              "BY",
              ...hasSource(releases) ? ["COMMIT"] : [],
              ...hasEnvironment(releases) ? ["ENVIRONMENT"] : [],
              "IMAGES",
              ""
            ],
            releases.map(({ at, available, by, current, id, images, ...release }) => [
              id,
              at,
              by,
              ...hasSource(releases) ? [describeSource(release)] : [],
              ...hasEnvironment(releases) ? [release.environment ?? ""] : [],
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
    details:
      "Shows what would change, asks, and has the server run what it keeps. Nothing is sent. With --with-data the " +
      "last backup that was taken while that release ran is restored, too.",
    examples: [
      "berth rollback hello",
      "berth rollback hello 12 --yes",
      "berth rollback hello 11 --with-data",
      "berth rollback hello --dry-run",
      "berth rollback 12"
    ]
  },
  {
    project,
    release: optionalArgument("release", "The id of a release; berth releases lists them.", "release"),
    yes,
    withData: flagOption("with-data", "Also restore the last backup that was taken while that release ran."),
    dryRun: flagOption("dry-run", "Show what would change, and change nothing."),
    confirm: confirmOption,
    ...reportOptions,
    ...locationOptions
  },
  Effect.fnUntraced(function*(input) {
    const { answer } = yield* Berth
    const { err, out, print, say } = yield* Screen
    const { next: release, project } = yield* leaveOutProject(input.project, input.release, isReleaseId)
    const place = yield* locateNamedStack(project, input)
    const name = projectName(place.remotePath)
    const withData = input.withData ? { withData: true } : {}
    const wanted = {
      ...Option.match(release, { onNone: () => ({}), onSome: (release) => ({ release }) }),
      ...withData
    }
    const planned = yield* answer((api) => api.planRollback({ payload: { ...pickStackLocation(place), ...wanted } }))
      .pipe(reportFailure(input, name))
    const plan = planned.value
    const { at, id } = plan.release
    const question = `Roll ${describeLocation(place)} back to release ${escapeInline(id)}`
    const title = `${question} of ${escapeInline(at)}`
    if (input.dryRun) {
      const lines = [`${title}:`, ...formatRollbackPlan(plan, out, { texts: true })]
      yield* print(input.json ? planned.body : wrapText(lines.join("\n"), out))
      yield* reportRollbackPlan(input, place.serverName, plan)
      return plan.obstacles.length > 0 ? exitCodes.failed : exitCodes.done
    }
    yield* say([`${title}:`, ...formatRollbackPlan(plan, err, { texts: false })].join("\n"))
    if (plan.obstacles.length > 0) {
      const message = `${describeLocation(place)} cannot be rolled back to release ${
        escapeInline(id)
      } now: nothing was changed`
      yield* reportEnd(input, name, { outcome: "failed", message: [message, ...plan.obstacles].join("\n") })
      return yield* new Failed({ message })
    }
    const confirmed = yield* confirmChange(`${question}?`, input, place)
    if (Option.isNone(confirmed)) return exitCodes.failed
    const ended = yield* followRun((api) =>
      api.rollback({ payload: { ...pickStackLocation(place), release: id, ...withData, ...confirmed.value } })
    )
      .pipe(reportFailure(input, name))
    if (input.json) yield* print(ended.body)
    yield* reportResult(input, name, ended.value, { ...ended, where: place })
    return yield* printDeployEnd(ended.value, input.json ? [] : ended.next)
  })
)

export const stacksCommands = [
  rollbackCommand,
  releasesCommand,
  ...stackActionCommands
]

/** Queries the servers concurrently and keeps each success or failure. */
const askEach = <A>(
  servers: ReadonlyArray<{ readonly server: { readonly id: string }; readonly callName: string }>,
  ask: (id: string) => Effect.Effect<A, BerthError, Berth>
) =>
  Effect.forEach(
    servers,
    ({ callName, server: { id } }) => Effect.map(Effect.either(ask(id)), (answer) => ({ id, callName, answer })),
    { concurrency: 8 }
  )

const psCommand = defineServiceCommand(
  {
    name: "ps",
    summary: "List the running containers of all servers, or of one; with --all the others too.",
    details:
      "With --json and without a server: what each server answers, by its id. Ends with 1 when a server cannot be " +
      "asked.",
    examples: ["berth ps", "berth ps main --all"]
  },
  {
    server: optionalArgument("server", "The id or the name of a stored server.", "server"),
    all: flagOption("all", "Containers that do not run too.", "a")
  },
  Effect.fnUntraced(function*(input) {
    const { answer, use } = yield* Berth
    const { out, print, say } = yield* Screen
    const ask = (id: string) =>
      answer((api) => api.listContainers({ path: { id }, urlParams: input.all ? { all: "true" } : {} }))
    const one = Option.isSome(input.server) ? yield* findStoredServer(input.server.value) : undefined
    if (one !== undefined && input.json) return yield* Effect.flatMap(ask(one.server.id), ({ body }) => print(body))
    const stored = yield* use((api) => api.listServers({}))
    const asked = one === undefined
      ? stored.map((server) => ({ server, callName: formatServerReference(stored, server) }))
      : [one]
    const answers = yield* askEach(asked, ask)
    if (input.json) {
      yield* print(
        `{${
          answers.map(({ answer, id }) =>
            `${JSON.stringify(id)}:${
              answer._tag === "Right" ? answer.right.body : JSON.stringify({ error: answer.left.message })
            }`
          ).join(",")
        }}`
      )
    } else {
      const rows = answers.flatMap(({ answer, callName }) =>
        answer._tag === "Left"
          ? []
          : answer.right.value.containers.map(({ name, ports, status }) => [callName, name, status, ports])
      )
      if (rows.length > 0) yield* print(formatTable(["SERVER", "CONTAINER", "STATUS", "PORTS"], rows, out))
      if (asked.length === 0) {
        yield* say(`${yield* describeNoServers}.`)
      } else if (rows.length === 0 && answers.some(({ answer }) => answer._tag === "Right")) {
        yield* say(input.all ? "There is no container." : "No container runs.")
      }
      for (const { answer, callName } of answers) {
        if (answer._tag === "Left") yield* say(`✗ ${escapeInline(`${callName}: ${answer.left.message}`)}`)
      }
    }
    return answers.every(({ answer }) => answer._tag === "Right") ? exitCodes.done : exitCodes.failed
  })
)

export const containersCommands = [psCommand]

const describeProject = ({ exists, project }: ServerStack) => project ?? (exists ? "" : "its directory is gone")

const listStacks = (input: { readonly json: boolean }, id: string) =>
  showAnswer(input, (api) => api.listStacks({ path: { id } }), ({ stacks }) =>
    printTable(
      "No compose project has containers there.",
      ["NAME", "PATH", "SERVICES", "RUNNING", "PROJECT"],
      stacks.map((stack) => [
        stack.name,
        stack.remotePath,
        stack.services.join(", "),
        `${stack.running} of ${stack.containers}`,
        describeProject(stack)
      ])
    ))

const formatAdoption = ({ files, services, warnings }: StackAdoption, surface: Surface): ReadonlyArray<string> => {
  const style = makeStyler(surface)
  return [
    ...files.map(({ bytes, path }) =>
      style("green", `  + ${escapeInline(path)}`) + style("dim", ` (${formatBytes(bytes)})`)
    ),
    ...services.map(({ change, name }) =>
      change === "keep"
        ? style("dim", `  = service ${escapeInline(name)}`)
        : style("yellow", `  ~ service ${escapeInline(name)} ${change}`)
    ),
    ...warnings.map((warning) => style("yellow", `  ! ${escapeInline(warning)}`))
  ]
}

/** Directory of the new project: the given one, or that of the stack's name under the working directory. */
const decideProjectPath = (to: Option.Option<string>, path: string) =>
  Effect.gen(function*() {
    const name = basename(path)
    if (Option.isSome(to)) return resolve(to.value)
    if (name === "" || name === "~" || name === "." || name === "..") {
      return yield* new Usage({ message: "--to has to name the directory of the new project, as the path has no name" })
    }
    return resolve(name)
  })

const adoptCommand = defineServiceCommand(
  {
    name: "adopt",
    summary: "Make a project of a stack that runs on a server; without a path list its stacks.",
    details:
      "Fetches compose files, env files and mounted files, never data, writes container.json, and records what runs as " +
      "the first release. No container is restarted. The new project is a directory of the stack's name here, unless --to " +
      "names another one, which must be empty or missing.",
    examples: [
      "berth adopt main",
      "berth adopt main ~/stacks/shop --dry-run",
      "berth adopt main /srv/shop --to ~/projects/shop"
    ]
  },
  {
    server: argument("server", "The id or the name of the server.", "server"),
    path: optionalArgument("path", "The directory of the stack on the server."),
    to: textOption("to", "The directory of the new project.", { value: "directory" }),
    dryRun: flagOption("dry-run", "Only show what would be fetched.")
  },
  Effect.fnUntraced(function*(input) {
    const { out, print, say } = yield* Screen
    const { server: { id } } = yield* findStoredServer(input.server)
    if (Option.isNone(input.path)) return yield* listStacks(input, id)
    const remotePath = yield* findRemotePath(id, input.path.value)
    const projectPath = yield* decideProjectPath(input.to, remotePath)
    return yield* showAnswer(
      input,
      (api) => api.adoptStack({ payload: { serverId: id, remotePath, projectPath, plan: input.dryRun } }),
      (adoption) =>
        Effect.gen(function*() {
          yield* print(formatAdoption(adoption, out).join("\n"))
          const files = pluralize(adoption.files.length, "file")
          const place = escapeInline(adoption.projectPath)
          const project = yield* referToProject(adoption.projectPath)
          yield* say(
            adoption.release === null
              ? `Would fetch ${files} into ${place}. Nothing was changed.`
              : `Adopted: ${files} in ${place}, and what runs is release ${adoption.release}. Next: berth deploy ` +
                `${quoteShellWord(project)} --dry-run`
          )
        })
    )
  })
)

/** The shell of this machine has replaced `~` by the home here; a stack of the server tells what was meant. */
const findRemotePath = (id: string, path: string) =>
  Effect.gen(function*() {
    const home = homeDirectory()
    if (home === "" || !path.startsWith(`${home}/`)) return path
    const { stacks } = yield* (yield* Berth).use((api) => api.listStacks({ path: { id } }))
    const below = `~${path.slice(home.length)}`
    const isKnown = (wanted: string) =>
      stacks.some(({ directory, remotePath }) => directory === wanted || remotePath === wanted)
    return !isKnown(path) && isKnown(below) ? below : path
  })

export const adoptionCommands = [adoptCommand]
