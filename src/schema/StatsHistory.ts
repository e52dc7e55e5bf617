import { Schema } from "effect"
import { ObservedServer, ServerDisk } from "./Overview.ts"
import { number, text } from "./words/describedFields.ts"
import { strictQuery } from "./words/strict.ts"

/** Interval between two samples of a server, in seconds. */
export const sampleSeconds = 15

/** Retention of samples, in minutes. */
export const keptMinutes = 60

/** Sample of a container's resource usage. */
export const ContainerSample = Schema.Struct({
  name: text("The container's name.", "hello-web-1"),
  service: text("Its service in the compose file; empty when it belongs to no stack.", "web"),
  cpuPercent: number("Share of one CPU, so more than 100 on several.", 1.5),
  memoryBytes: number("Memory in use, in bytes.", 50_000_000),
  networkBytes: number("Bytes received and sent since it was started.", 1_200),
  blockBytes: number("Bytes read from and written to disks since it was started.", 4_096)
}).annotations({ identifier: "ContainerSample" })
export interface ContainerSample extends Schema.Schema.Type<typeof ContainerSample> {}

/** Sample of the resource usage of a server and its running containers. */
export const StatsPoint = Schema.Struct({
  at: text("When it was sampled, in UTC.", "2026-01-02T03:04:05.678Z"),
  load: ObservedServer.fields.load,
  memory: ObservedServer.fields.memory,
  disks: Schema.Array(ServerDisk).annotations({ description: "The file systems that deploys fill, each once." }),
  containers: Schema.Array(ContainerSample).annotations({ description: "The running containers, 500 at most." }),
  error: Schema.optionalWith(Schema.String, { exact: true }).annotations({
    description: "Why the server or Docker did not answer; absent where they did."
  })
}).annotations({ identifier: "StatsPoint" })
export interface StatsPoint extends Schema.Schema.Type<typeof StatsPoint> {}

/** Resource usage of a server over time. */
export const StatsHistory = Schema.Struct({
  everySeconds: number("Seconds between two samples.", sampleSeconds),
  points: Schema.Array(StatsPoint).annotations({ description: "The samples, oldest first." })
}).annotations({ identifier: "StatsHistory" })
export interface StatsHistory extends Schema.Schema.Type<typeof StatsHistory> {}

/** Query for a part of a history. */
export const StatsHistoryQuery = Schema.Struct({
  minutes: Schema.optional(
    Schema.NumberFromString.pipe(Schema.int(), Schema.between(1, keptMinutes)).annotations({
      message: () => ({ message: `must be a whole number from 1 to ${keptMinutes}`, override: true }),
      jsonSchema: { type: "integer", minimum: 1, maximum: keptMinutes, default: keptMinutes }
    })
  ).annotations({ description: "Only samples of the last minutes." })
}).annotations(strictQuery)
export interface StatsHistoryQuery extends Schema.Schema.Type<typeof StatsHistoryQuery> {}
