import { Clock, Effect, Option, Struct } from "effect"
import { Berth } from "../../client/Berth.ts"
import type { ServerCheck, ServerTest, ShownHostKey } from "../../schema/servers.ts"
import {
  buildContainerSeries,
  computeMeans,
  type ContainerStats,
  keptMinutes,
  type SeriesPoint,
  type StatsHistory,
  summarize
} from "../../schema/usage.ts"
import { formatBytes, formatRoundDuration } from "../../schema/words.ts"
import { defineServiceCommand, describeNoServers, findStoredServer, showAnswer, showFinding, yes } from "../options.ts"
import {
  confirm,
  escapeInline,
  exitCodes,
  Failed,
  formatFileChange,
  formatSparkline,
  makeStyler,
  printTable,
  quoteShellWord,
  Screen,
  type Surface,
  Usage,
  wrapText
} from "../output.ts"
import { argument, defineCommandGroup, flagOption, integerOption, optionalArgument, textOption } from "../parse.ts"
import { pruneServerCommand, serverDiskCommand } from "./disks.ts"
import {
  access,
  askIfOwn,
  askToReplace,
  askToReplaceNamed,
  buildServerInput,
  buildServerOverrides,
  compareNewKey,
  describeMissingCredential,
  passwords,
  resolveHostKey
} from "./sshAccess.ts"

const addServerCommand = defineServiceCommand(
  {
    name: "add",
    summary: "Store a server to deploy to.",
    details:
      `${passwords} berth server test tries first whether it works, and shows the fingerprint of the host key. What ` +
      "~/.ssh/config says of the host is taken over, and a host key in known_hosts counts as compared.",
    examples: [
      "berth server add Main deployer@main.example.com --key ~/.ssh/id_ed25519",
      "berth server add Attic ann@attic.example.com --agent --sudo",
      "berth server add attic"
    ]
  },
  {
    name: argument("name", "Display name."),
    address: optionalArgument(
      "address",
      "User and host to log in to: user@host, user@host:port, or a Host of ~/.ssh/config; the name unless given."
    ),
    hostKey: textOption("host-key", "The fingerprint of its host key, once compared: Berth insists on it.", {
      value: "SHA256:…"
    }),
    replacesHostKey: textOption("replaces-host-key", "The remembered fingerprint that --host-key takes the place of.", {
      value: "SHA256:…"
    }),
    id: textOption("id", "The id to store it under; a stored server with this id is replaced.", {
      value: "id",
      names: "server"
    }),
    dryRun: flagOption("dry-run", "Only show how the settings file would change."),
    ...access
  },
  Effect.fnUntraced(function*(input) {
    const { out, print, say } = yield* Screen
    const { isKnown, server } = yield* buildServerInput(Option.getOrElse(input.address, () => input.name), input)
    const { use } = yield* Berth
    if (Option.isSome(input.replacesHostKey) && Option.isNone(input.hostKey)) {
      return yield* new Usage({
        message: "--replaces-host-key needs --host-key with the fingerprint of the new key"
      })
    }
    const servers = yield* use((api) => api.listServers({}))
    const stored = Option.isSome(input.id)
      ? servers.find(({ id }) => id === Option.getOrUndefined(input.id))
      : yield* askToReplaceNamed(input, servers)
    if (stored === "refused") return exitCodes.failed
    const id = stored?.id ?? Option.getOrUndefined(input.id)
    const [given, replaced] = [Option.getOrUndefined(input.hostKey), Option.getOrUndefined(input.replacesHostKey)]
    const fields = {
      ...server,
      name: input.name,
      ...(stored === undefined ? { newId: id } : { id }),
      uniqueName: true
    }
    if (input.dryRun) {
      return yield* showAnswer(
        input,
        (api) => api.saveServer({ payload: fields, urlParams: { plan: "true" } }),
        ({ change }) => {
          return change === undefined || change.diff === ""
            ? say("Nothing would change.")
            : print(formatFileChange(change.file, change.diff, out))
        }
      )
    }
    const key = replaced === undefined
      // Keeps the jump hosts of a replaced server unless others are given.
      ? yield* resolveHostKey({
        ...server,
        name: input.name,
        jump: server.jump === undefined ? stored?.jump : server.jump
      }, {
        given,
        isKnown
      })
      : { hostKey: given, replacesHostKey: replaced }
    if (key === "refused") return exitCodes.failed
    return yield* showAnswer(
      input,
      (api) => api.saveServer({ payload: { ...fields, ...key }, urlParams: {} }),
      ({ server: saved }) =>
        Effect.gen(function*() {
          const done = `${stored === undefined ? "Stored" : "Replaced"} ${escapeInline(saved.name)} with the id ${
            escapeInline(saved.id)
          }.`
          const next = (yield* describeMissingCredential(input, server, saved, stored)) ??
            `Next: berth server test ${quoteShellWord(saved.name)}`
          yield* say(`${done} ${next}`)
        })
    )
  })
)

const lineLength = 20
const none = "No container runs."

const percent = (value: number) => `${value.toFixed(1)}%`

const showNow = (containers: ReadonlyArray<ContainerStats>) =>
  printTable(
    none,
    ["CONTAINER", "SERVICE", "CPU", "MEMORY", "NETWORK", "RESTARTS"],
    containers.map(({ cpuPercent, memoryBytes, memoryLimitBytes, name, networkBytes, restarts, service }) => [
      name,
      service,
      percent(cpuPercent),
      `${formatBytes(memoryBytes)} of ${formatBytes(memoryLimitBytes)}`,
      formatBytes(networkBytes),
      String(restarts)
    ])
  )

/** Last, mean and highest value of a series as cells. */
const numbersOf = (series: ReadonlyArray<SeriesPoint>, words: (value: number) => string) => {
  const { last, mean, most } = summarize(series) ?? {}
  return [last, mean, most].map((value) => value === undefined ? "" : words(value))
}

const showHistory = (minutes: number) => ({ points }: StatsHistory) =>
  Effect.gen(function*() {
    const { out, say } = yield* Screen
    const to = yield* Clock.currentTimeMillis
    const from = to - minutes * 60_000
    const lineOf = (series: ReadonlyArray<SeriesPoint>, words: (value: number) => string) => {
      const [last = ""] = numbersOf(series, words)
      return [formatSparkline(computeMeans(series, { from, to, parts: lineLength })), last]
    }
    const cells = out.hasColor ? lineOf : numbersOf
    yield* printTable(
      none,
      [
        "CONTAINER",
        "SERVICE",
        ...out.hasColor ? ["CPU", "NOW", "MEMORY", "NOW"] : ["CPU", "MEAN", "MOST", "MEMORY", "MEAN", "MOST"]
      ],
      buildContainerSeries(points).map(({ cpuPercent, memoryBytes, name, service }) => [
        name,
        service,
        ...cells(cpuPercent, percent),
        ...cells(memoryBytes, formatBytes)
      ])
    )
    const [first] = points
    const error = points.at(-1)?.error
    if (error !== undefined) yield* say(`✗ The last sample failed: ${escapeInline(error)}`)
    if (first !== undefined && Date.parse(first.at) > from + 60_000) {
      yield* say(
        `Sampled for ${
          formatRoundDuration(to - Date.parse(first.at))
        }: it begins when somebody looks, unless stats.sample is always.`
      )
    }
  })

const serverStatsCommand = defineServiceCommand(
  {
    name: "stats",
    summary: "Show what the containers of a server use, now or over time.",
    examples: ["berth server stats main", "berth server stats main --minutes 30"]
  },
  {
    server: argument("server", "The id or the name of a stored server; berth server list names them.", "server"),
    minutes: integerOption(
      "minutes",
      "Show CPU and memory of the last minutes, as lines where the terminal has colours.",
      {
        value: "number",
        between: [1, keptMinutes]
      }
    )
  },
  (input) =>
    Effect.flatMap(findStoredServer(input.server), ({ server: { id } }) =>
      Option.match(input.minutes, {
        onNone: () =>
          showAnswer(input, (api) => api.serverStats({ path: { id } }), ({ containers }) => showNow(containers)),
        onSome: (minutes) =>
          showAnswer(input, (api) => api.statsHistory({ path: { id }, urlParams: { minutes } }), showHistory(minutes))
      }))
)

const checkLines = (name: string, { detail, fix, ok }: ServerCheck, surface: Surface) => {
  const style = makeStyler(surface)
  const sign = ok === null ? style("dim", "-") : ok ? style("green", "✓") : style("red", "✗")
  return [
    `${sign} ${name}: ${escapeInline(detail)}`,
    ...(fix === undefined ? [] : [`  ${style("yellow", "→")} ${escapeInline(fix)}`])
  ]
}

const standing = { known: "the remembered one", new: "not seen before", changed: "another one is remembered" }

const testLines = ({ docker, files, hostKey, logIn, sudo }: ServerTest, surface: Surface) => [
  ...(hostKey === null
    ? []
    : checkLines("host key", {
      ok: hostKey.standing === "known" ? true : hostKey.standing === "changed" ? false : null,
      detail: `${hostKey.type} ${hostKey.fingerprint}, ${
        hostKey.route === undefined
          ? standing[hostKey.standing]
          : `remembered is another route: ${hostKey.route.remembered}`
      }`
    }, surface)),
  ...checkLines("log-in", logIn, surface),
  ...checkLines("sudo", sudo, surface),
  ...checkLines("docker", docker, surface),
  ...checkLines("files", files, surface)
]

const testServerCommand = defineServiceCommand(
  {
    name: "test",
    summary: "Try whether Berth gets into a server, stored or not, and can deploy there; change nothing there.",
    details:
      "Of a stored server, the options take the place of what is stored; its credentials are used only at its own " +
      "address. A server whose host key is new gets no password or key before --host-key, or a yes on a terminal, confirms " +
      "its fingerprint. There a changed key of a stored server is shown beside the stored one, with the question whether to " +
      `replace it. ${passwords} Ends with 1 when something does not work, or was not tried as the host key is new.`,
    examples: ["berth server test main", "berth server test ann@attic.example.com --agent"]
  },
  {
    server: argument("server", "The id or the name of a stored server, or user@host or user@host:port.", "server"),
    hostKey: textOption("host-key", "The fingerprint of its host key, once compared.", { value: "SHA256:…" }),
    ...access
  },
  Effect.fnUntraced(function*(input) {
    const { canAsk, out, print, say } = yield* Screen
    const inline = Effect.map(
      buildServerInput(input.server, input),
      ({ server }) => ({ name: input.server, ...server })
    )
    const server = input.server.includes("@")
      ? yield* inline
      : yield* findStoredServer(input.server).pipe(
        // Omits the jump hosts: the stored ones apply unless others are given.
        Effect.map(({ server }) => Struct.omit(server, "jump")),
        Effect.catchIf(
          (error) => error instanceof Failed,
          (missing) => Effect.catchIf(inline, (error) => error instanceof Usage, () => Effect.fail(missing))
        )
      )
    const { use } = yield* Berth
    const overrides = "id" in server ? buildServerOverrides(input) : Option.none()
    const tested = { ...server, ...Option.getOrUndefined(overrides) }
    const payload = { ...tested, hostKey: Option.getOrUndefined(input.hostKey) }
    const show = (test: ServerTest) => print(wrapText(testLines(test, out).join("\n"), out))
    const isAsStored = "id" in server && Option.isNone(overrides)
    /** The key that a yes on a terminal confirms, as that of a new server or in place of the stored one. */
    const askAbout = (shown: typeof ShownHostKey.Type) =>
      Effect.gen(function*() {
        if (shown.standing === "new" && Option.isNone(input.hostKey) && canAsk) {
          return (yield* askIfOwn(tested.host, shown)) ? { hostKey: shown.fingerprint } : "refused" as const
        }
        return isAsStored ? yield* askToReplace(tested.host, shown) : undefined
      })
    return yield* showFinding(
      input,
      (api) => api.testServer({ payload }),
      ({ ready }) => ready,
      (first) =>
        Effect.gen(function*() {
          yield* show(first)
          const asked = first.hostKey === null ? undefined : yield* askAbout(first.hostKey)
          if (asked === "refused") return first
          // Host keys are stored with their server: only a stored server without overrides has one to add or to replace.
          if (asked !== undefined && isAsStored) {
            yield* use((api) => api.saveServer({ payload: { ...server, ...asked }, urlParams: {} }))
          }
          const again = { ...payload, hostKey: asked?.hostKey }
          const test = asked === undefined ? first : yield* use((api) => api.testServer({ payload: again }))
          if (asked !== undefined) yield* show(test)
          yield* test.hostKey?.standing === "new" && asked === undefined && Option.isNone(input.hostKey)
            ? say(`${compareNewKey} Go on with --host-key ${test.hostKey.fingerprint}`)
            : say(test.ready ? "Berth can deploy there." : "Berth cannot deploy there yet.")
          return test
        })
    )
  })
)

const server = argument("server", "The id or the name of a stored server; berth server list names them.", "server")

const listCommand = defineServiceCommand(
  { name: "list", summary: "List the stored servers.", examples: ["berth server list"] },
  {},
  (input) =>
    showAnswer(input, (api) => api.listServers({}), (servers) =>
      Effect.gen(function*() {
        const through = servers.some(({ jump }) => jump !== undefined)
        yield* printTable(
          servers.length === 0 ? `${yield* describeNoServers}.` : "",
          ["ID", "NAME", "HOST", "PORT", "USER", "SUDO", ...(through ? ["THROUGH"] : [])],
          servers.map(({ host, id, jump = "", name, port, useSudo, username }) => [
            id,
            name,
            host,
            String(port),
            username,
            useSudo ? "yes" : "no",
            ...(through ? [jump] : [])
          ])
        )
      }))
)

const removeCommand = defineServiceCommand(
  {
    name: "remove",
    summary: "Forget a stored server; nothing on it changes.",
    examples: ["berth server remove attic --yes"]
  },
  { server, yes },
  Effect.fnUntraced(function*(input) {
    const { say } = yield* Screen
    const { callName, server: { id, name } } = yield* findStoredServer(input.server)
    const which = callName === name ? name : `${name} (${id})`
    const question = `Forget the server ${escapeInline(which)} and its stored credentials?`
    if (!(yield* confirm(question, input.yes))) return exitCodes.failed
    return yield* showAnswer(
      input,
      (api) => api.removeServer({ path: { id } }),
      () => say(`Forgot the server ${escapeInline(name)}.`)
    )
  })
)

const scanCommand = defineServiceCommand(
  { name: "scan", summary: "List what is deployed on a server.", examples: ["berth server scan main"] },
  { server },
  (input) =>
    Effect.flatMap(
      findStoredServer(input.server),
      ({ server: { id } }) =>
        showAnswer(input, (api) => api.scanServer({ path: { id } }), ({ deployed }) =>
          printTable(
            "Nothing is deployed under ~/containers.",
            ["NAME", "PATH", "COMPOSE", "ENV", "DATA", "ARCHIVE"],
            deployed.map(({ hasComposeFile, hasData, hasEnv, name, remotePath, tarFile }) => [
              name,
              remotePath,
              ...[hasComposeFile, hasEnv, hasData].map((has) => (has ? "yes" : "no")),
              tarFile ?? ""
            ])
          ))
    )
)

export const serversCommands = [
  defineCommandGroup({
    name: "server",
    summary: "The stored servers: list, add, test, remove, scan, stats, disk, prune."
  }, [
    listCommand,
    addServerCommand,
    testServerCommand,
    removeCommand,
    scanCommand,
    serverStatsCommand,
    serverDiskCommand,
    pruneServerCommand
  ])
]
