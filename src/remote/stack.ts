import { Array as Arr, Option, Schema } from "effect"
import type { Container, StackAction } from "../schema/stacks.ts"
import type { ContainerStats } from "../schema/usage.ts"
import { decodeJson } from "../services/parsing.ts"
import { makeLineLimit, type RemoteCommand } from "../services/ssh/Ssh.ts"
import { type ForeignContainer, parseForeignContainers } from "./deploy.ts"
import { script } from "./stack/inspect.sh.ts"
import { script as stackScript } from "./stack/stack.sh.ts"
import { script as statsScript } from "./stack/stats.sh.ts"
import { script as unhealthyLogsScript } from "./stack/unhealthyLogs.sh.ts"

const containersScript = `as_root docker ps \${1:+"$1"} --format '{{.Names}}\t{{.Status}}\t{{.Ports}}' </dev/null`

/** Lists the running containers, one per line; with `all` also the others. */
export const containersCommand = (sudo: boolean, all = false): RemoteCommand => ({
  what: "listing containers",
  script: containersScript,
  args: all ? ["--all"] : [],
  sudo
})

/** Name of a container without the aliases of linked containers, which Docker adds to it: "db,web/db". */
export const parseContainerName = (names: string) => names.split(",").find((name) => !name.includes("/")) ?? names

/** Parses the answer of `containersCommand`. */
export const parseContainers = (output: string): ReadonlyArray<Container> =>
  output.split("\n").flatMap((line) => {
    const [names = "", status = "", ports = ""] = line.replace(/\r$/, "").split("\t")
    return names === "" ? [] : [{ name: parseContainerName(names), status, ports }]
  })

// Docker keeps its last 256 events. The state of a container that is running again has no exit code.
const exitsScript = `until=$(date +%s)
for id do
  as_root docker events --since 24h --until "$until" --filter type=container --filter event=die --filter "container=$id" \\
    --format '{{.Actor.ID}} {{.Actor.Attributes.exitCode}}' </dev/null | tail -n 1
done`

/** Reads the last exit codes of containers that are running again. */
export const exitsCommand = (ids: ReadonlyArray<string>, sudo: boolean): RemoteCommand => ({
  what: "asking for exit codes",
  script: exitsScript,
  args: ids,
  sudo
})

/** Parses the answer of `exitsCommand`: the last exit code of each container by id, if known. */
export const parseExits = (output: string): ReadonlyMap<string, number> =>
  new Map(
    output.split("\n").flatMap((line) => {
      const [, id, code] = /^([0-9a-f]+) (\d+)$/.exec(line) ?? []
      return id === undefined ? [] : [[id, Number(code)] as const]
    })
  )

const units: ReadonlyMap<string, number> = new Map([
  ["B", 1],
  ...["k", "M", "G", "T", "P"].flatMap((prefix, index): ReadonlyArray<readonly [string, number]> => [
    [`${prefix}B`, 1000 ** (index + 1)],
    [`${prefix.toUpperCase()}iB`, 1024 ** (index + 1)]
  ])
])

/** Parses a size in Docker's format, `1.5MiB` or `12kB`, to bytes; undefined for anything else. */
export const parseSize = (text: string): number | undefined => {
  const [, number = "", unit = ""] = /^(\d{1,15}(?:\.\d{1,9})?)([A-Za-z]{1,3})$/.exec(text.trim()) ?? []
  const factor = units.get(unit)
  return factor === undefined ? undefined : Math.round(Number(number) * factor)
}

/** Parses two sizes in Docker's format, `1.5MiB / 2GiB`, to bytes; 0 for anything else. */
export const parseSizePair = (text: string): readonly [number, number] => {
  const [one = "", other = ""] = text.split(" / ")
  return [parseSize(one) ?? 0, parseSize(other) ?? 0]
}

/** Parses a number in Docker's format, with or without `%`; 0 for anything else. */
export const parseFigure = (text: string): number => {
  const number = Number(text.replace("%", ""))
  return Number.isFinite(number) ? number : 0
}

/** Reads the current state of these containers. */
export const inspectCommand = (ids: ReadonlyArray<string>, sudo: boolean): RemoteCommand => ({
  what: "looking at the containers",
  script,
  args: ids,
  sudo,
  // A container's state includes the output of its last health checks.
  limit: makeLineLimit(8, 100_000)
})

/** State of a container as reported by `inspectCommand`. */
export interface ContainerState {
  readonly id: string
  readonly name: string
  readonly service: string
  readonly status: string
  /** Status of its health check; empty if it has none. */
  readonly health: string
  readonly exitCode: number
  readonly restartPolicy: string
  /** Restarts by Docker itself. */
  readonly restarts: number
  /** Uptime in milliseconds. */
  readonly upMillis: number
}

const decodeState = decodeJson(Schema.Struct({
  Status: Schema.String,
  ExitCode: Schema.Number,
  StartedAt: Schema.String,
  Health: Schema.optional(Schema.NullOr(Schema.Struct({ Status: Schema.String })))
}))
// Some versions of date do not support nanoseconds; without them the uptime is up to a second too short.
const clock = (line: string | undefined): number => {
  const [, seconds, fraction = ""] = /^now\t(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{3})?/.exec(line ?? "") ?? []
  return Date.parse(`${seconds}${fraction}Z`)
}

/** Parses the lines of `inspectCommand`; skips other lines. */
export const parseInspect = (output: string): ReadonlyArray<ContainerState> => {
  const lines = output.split("\n")
  const now = clock(lines.find((line) => line.startsWith("now\t")))
  return Arr.filterMap(lines, (line) => {
    if (!line.startsWith("container\t")) return Option.none()
    const [id = "", name = "", service = "", restartPolicy = "", restarts, ...rest] = line.slice("container\t".length)
      .split("|")
    return Option.map(decodeState(rest.join("|")), ({ ExitCode, Health, StartedAt, Status }) => {
      const up = now - Date.parse(StartedAt)
      return {
        id,
        name: name.replace(/^\//, ""),
        service,
        status: Status,
        health: Health?.Status === "none" ? "" : Health?.Status ?? "",
        exitCode: ExitCode,
        restartPolicy,
        restarts: Number(restarts) || 0,
        upMillis: Number.isFinite(up) ? Math.max(0, up) : 0
      }
    })
  })
}

const readOnlyActions: ReadonlyArray<string> = ["look", "plan", "settled"]

/**
 * Runs an action on the stack in a directory, or only inspects it: immediately, or once no activation is running there.
 * `plan` lists what a removal would remove and leave. Continues even if the caller stops waiting.
 */
export const stackCommand = (
  action: StackAction | "look" | "plan" | "settled",
  remotePath: string,
  sudo: boolean,
  { volumes = false }: { readonly volumes?: boolean } = {}
): RemoteCommand => ({
  what: `${readOnlyActions.includes(action) ? "looking at" : action} ${remotePath}`,
  script: stackScript,
  args: [action, remotePath, volumes ? "yes" : "no"],
  sudo,
  // A container's state includes the output of its last health checks.
  limit: makeLineLimit(8, 100_000)
})

const remainsKinds = ["container", "directory", "file", "image", "link", "volume"] as const

/** Object that a removal leaves, with the script's word for the reason. */
export interface Remains {
  readonly kind: typeof remainsKinds[number]
  readonly name: string
  readonly reason: string
  /** Name or container that keeps an image or a volume; empty for other reasons. */
  readonly by: string
}

// The script prints a line break within a name as this byte.
const readName = (fields: ReadonlyArray<string>) => fields.join("\t").replaceAll("\u0001", "\n")

const parseRemains = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<Remains> =>
  rows.flatMap(([label, word = "", reason = "", by = "", ...name]) => {
    const kind = remainsKinds.find((each) => each === word)
    return label !== "stays" || kind === undefined || name.length === 0
      ? []
      : [{ kind, name: readName(name), reason, by }]
  })

/** Stack on a server, and the changes that an action made to it. */
export interface StackAnswer {
  /** Missing part: the stack, or its containers. */
  readonly lacks: "stack" | "containers" | undefined
  readonly containers: ReadonlyArray<ContainerState>
  /** Removed files, images and volumes, and files that could not be removed. */
  readonly removed: ReadonlyArray<string>
  readonly images: ReadonlyArray<string>
  readonly volumes: ReadonlyArray<string>
  readonly left: ReadonlyArray<string>
  /** Objects that a removal leaves by its own rules. */
  readonly stays: ReadonlyArray<Remains>
  /** Containers of a stack of the same name in another directory, which stop an action or keep its volumes. */
  readonly foreign: ReadonlyArray<ForeignContainer>
}

/** Parses the answer of `stackCommand`. */
export const parseStack = (output: string): StackAnswer => {
  const lines = output.split("\n")
  const values = (key: string) =>
    lines.flatMap((line) => line.startsWith(`${key}\t`) ? [line.slice(key.length + 1)] : [])
  return {
    lacks: lines.includes("absent") ? "stack" : lines.includes("empty") ? "containers" : undefined,
    containers: parseInspect(output),
    removed: values("removed"),
    images: values("image"),
    volumes: values("volume"),
    left: values("left"),
    stays: parseRemains(lines.map((line) => line.split("\t"))),
    foreign: parseForeignContainers(values("foreign"))
  }
}

/** Objects that a removal would remove and leave, as its plan lists them. */
interface RemovalFacts {
  readonly releases: ReadonlyArray<{ readonly id: string; readonly at: string }>
  readonly backups: ReadonlyArray<
    { readonly id: string; readonly takenAt: string; readonly bytes: number; readonly items: ReadonlyArray<string> }
  >
  readonly containers: ReadonlyArray<string>
  readonly files: ReadonlyArray<string>
  readonly images: ReadonlyArray<string>
  readonly volumes: ReadonlyArray<string>
  readonly stays: ReadonlyArray<Remains>
  /** Lists that the script cut, with the number of further entries. */
  readonly omitted: ReadonlyArray<{ readonly list: string; readonly number: number }>
}

/** Parses the answer of `stackCommand` to `plan`. */
export const parseRemovalPlan = (output: string): RemovalFacts => {
  const rows = output.split("\n").map((line) => line.split("\t"))
  const going = (wanted: string) => [
    ...new Set(rows.flatMap(([label, kind, ...name]) => label === "goes" && kind === wanted ? [readName(name)] : []))
  ]
  return {
    releases: rows.flatMap(([label, id = "", at = ""]) => label === "release" ? [{ id, at }] : []),
    backups: rows.flatMap(([label, id = "", takenAt = "", bytes = "", items = ""]) =>
      label === "backup"
        ? [{ id, takenAt, bytes: parseFigure(bytes), items: items.split(",").filter((item) => item !== "") }]
        : []
    ),
    containers: going("container"),
    files: going("file"),
    images: going("image"),
    volumes: going("volume"),
    stays: parseRemains(rows),
    omitted: rows.flatMap(([label, list = "", number = ""]) =>
      label === "more" ? [{ list, number: parseFigure(number) }] : []
    )
  }
}

/** Reads the usage of each running container from Docker. */
export const statsCommand = (sudo: boolean): RemoteCommand => ({
  what: "reading the containers' usage",
  script: statsScript,
  args: [],
  sudo
})

/** Parses the answer of `statsCommand`. Leaves out a container that ended between the two queries. */
export const parseStats = (output: string): ReadonlyArray<ContainerStats> => {
  const rows = output.split("\n").map((line) => line.split("|"))
  const usage = new Map(rows.flatMap(([kind, id = "", ...figures]) => kind === "usage" ? [[id, figures]] : []))
  return rows.flatMap(([kind, id = "", restarts = "", startedAt = "", service = "", ...name]) => {
    const figures = usage.get(id)
    if (kind !== "container" || figures === undefined) return []
    const [cpu = "", memory = "", network = ""] = figures
    const [memoryBytes, memoryLimitBytes] = parseSizePair(memory)
    const [received, sent] = parseSizePair(network)
    return [{
      name: name.join("|").replace(/^\//, ""),
      service: service === "<no value>" ? "" : service,
      cpuPercent: parseFigure(cpu),
      memoryBytes,
      memoryLimitBytes,
      networkBytes: received + sent,
      restarts: Math.trunc(parseFigure(restarts)),
      startedAt
    }]
  })
}

/** Reads the last health check and the end of the log of unhealthy containers, with values from env files masked. */
export const unhealthyLogsCommand = (
  remotePath: string,
  lines: number,
  ids: ReadonlyArray<string>,
  sudo: boolean
): RemoteCommand => ({
  what: "reading the logs of the unhealthy containers",
  script: unhealthyLogsScript,
  args: [remotePath, String(lines), ...ids],
  sudo
})

/** Output of an unhealthy container; lines are in order, the oldest first. */
export interface UnhealthyOutput {
  /** Exit code of the last health check, then its lines; empty if that passed, or if there is none. */
  readonly check: ReadonlyArray<string>
  readonly log: ReadonlyArray<string>
}

/** Parses the answer of `unhealthyLogsCommand`: the output of each container by id. */
export const parseUnhealthyLogs = (output: string): ReadonlyMap<string, UnhealthyOutput> => {
  const all = new Map<string, UnhealthyOutput>()
  let check: Array<string> = []
  let log: Array<string> = []
  for (const text of output.split("\n")) {
    const [, kind, rest = ""] = /^(container|check|line)\t(.*)$/s.exec(text) ?? []
    if (kind === "check") check.push(rest)
    if (kind === "line") log.push(rest)
    if (kind === "container") all.set(rest, { check: check = [], log: log = [] })
  }
  return all
}
