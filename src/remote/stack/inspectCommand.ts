import { Array, Option, Schema } from "effect"
import { decodeJson } from "../../services/parsing/json.ts"
import { makeLineLimit } from "../../services/ssh/AnswerLimit.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script } from "./inspect.sh.ts"

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
  return Array.filterMap(lines, (line) => {
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
