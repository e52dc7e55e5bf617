import { Schema } from "effect"

const bytes = (description: string) => Schema.Number.annotations({ description: `${description}, in bytes.` })

/** Current resource usage of one running container. */
export const ContainerStats = Schema.Struct({
  name: Schema.String.annotations({ description: "The container's name.", examples: ["hello-web-1"] }),
  service: Schema.String.annotations({
    description: "Its service in the compose file; empty when it belongs to no stack.",
    examples: ["web"]
  }),
  cpuPercent: Schema.Number.annotations({
    description: "Share of one CPU, so more than 100 on several.",
    examples: [1.5]
  }),
  memoryBytes: bytes("Memory in use"),
  memoryLimitBytes: bytes("The most memory that it may use"),
  networkBytes: bytes("Bytes received and sent since it was started"),
  restarts: Schema.Int.annotations({ description: "Number of restarts by Docker." }),
  startedAt: Schema.String.annotations({
    description: "When it was started last.",
    examples: ["2026-01-02T03:04:05.678Z"]
  })
}).annotations({ identifier: "ContainerStats" })
export interface ContainerStats extends Schema.Schema.Type<typeof ContainerStats> {}

/** The usage of a server's containers could not be read. */
export class StatsFailed extends Schema.TaggedError<StatsFailed>()("StatsFailed", { reason: Schema.String }) {
  readonly status = 502
  override get message() {
    return `Failed to read the containers' usage: ${this.reason}`
  }
}
