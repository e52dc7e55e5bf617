import { Schema } from "effect"
import { field, flag, number, projectPath, storedServerId, text, textOrNull } from "./described.ts"
import { Run } from "./Run.ts"

const time = "2026-01-02T03:04:05.678Z"

/** When something was observed, and why it could not be where it could not. */
const observation = {
  observedAt: text("When this was observed, or was tried to be, in UTC.", time),
  error: Schema.optional(Schema.String).annotations({
    description: "Why it could not be observed; absent where it could."
  })
}

/** How a stack does as a whole. */
export const StackState = Schema.Literal("running", "degraded", "stopped", "absent")
export type StackState = typeof StackState.Type

/** A project's stack on a server. */
export const ObservedStack = Schema.Struct({
  serverId: storedServerId,
  serverName: textOrNull("What people call the server; null when none of this id is stored.", "Main"),
  remotePath: text("Where it is on the server.", "~/containers/hello"),
  state: Schema.NullOr(StackState).annotations({
    description:
      "running: all its containers are up; degraded: some are not, or one is unhealthy, paused or starts again and " +
      "again; stopped: none is up; absent: it has none; null: not observed."
  }),
  containers: field(
    Schema.NullOr(Schema.Struct({
      up: number("How many are up.", 2),
      total: number("How many there are; those that have ended well do not count.", 2)
    })),
    "Its containers; null when it was not observed."
  ),
  release: textOrNull("Its current release; null when no deploy has noted one.", "20260102T030405Z-1a2b"),
  ...observation
}).annotations({ identifier: "ObservedStack" })
export interface ObservedStack extends Schema.Schema.Type<typeof ObservedStack> {}

/** A project and where it runs. */
export const ObservedProject = Schema.Struct({
  name: text("The name of its directory.", "hello"),
  path: projectPath,
  servers: Schema.Array(ObservedStack).annotations({
    description: "Its stack on the server that container.json names, and on every other server that has it."
  }),
  run: field(Schema.NullOr(Run), "The run that is under way for it, or else the next that waits; null without one."),
  ...observation
}).annotations({ identifier: "ObservedProject" })
export interface ObservedProject extends Schema.Schema.Type<typeof ObservedProject> {}

/** An application of the platform, or one that a project declares. */
export const ObservedApplication = Schema.Struct({
  name: text("Its name.", "hello"),
  uuid: textOrNull("Its uuid on the platform; null when the platform has none of this name.", "a1b2c3d4"),
  projectPath: textOrNull("The directory of the project that declares it; null when none does.", "/home/ann/hello"),
  status: textOrNull("What the platform says of its state; null when it does not say.", "running:healthy"),
  drift: Schema.NullOr(Schema.Number).annotations({
    description:
      "In how many things it is not as declared: fields, variables, routes, its webhook; null when nothing was compared.",
    examples: [0]
  }),
  ...observation
}).annotations({ identifier: "ObservedApplication" })
export interface ObservedApplication extends Schema.Schema.Type<typeof ObservedApplication> {}

/** A file system of a server that deploys fill. */
export const ServerDisk = Schema.Struct({
  holds: Schema.Array(Schema.Literal("containers", "docker")).annotations({
    description:
      "What is on it: containers, the stacks below ~/containers; docker, its images, containers and volumes.",
    examples: [["containers", "docker"]]
  }),
  mountedOn: text("Where it is mounted.", "/"),
  totalBytes: number("Its size, in bytes.", 80_000_000_000),
  freeBytes: number("What the user of Berth may still fill of it, in bytes.", 20_000_000_000)
}).annotations({ identifier: "ServerDisk" })
export interface ServerDisk extends Schema.Schema.Type<typeof ServerDisk> {}

/** A stored server, and whether it answers. */
export const ObservedServer = Schema.Struct({
  id: storedServerId,
  name: text("What people call it.", "Main"),
  answers: flag("Whether it let Berth in and ran a command. With an error too, Docker on it cannot be used."),
  latencyMs: Schema.NullOr(Schema.Number).annotations({
    description: "How long it took to answer, in milliseconds; null when it did not.",
    examples: [42]
  }),
  disks: Schema.Array(ServerDisk).annotations({
    description: "The file systems that deploys fill, each once; empty where it does not tell."
  }),
  ...observation
}).annotations({ identifier: "ObservedServer" })
export interface ObservedServer extends Schema.Schema.Type<typeof ObservedServer> {}

/** Everything at one look. */
export const Overview = Schema.Struct({
  observedAt: text("When the observations began, in UTC.", time),
  ageMs: number("How old they are, in milliseconds: callers within a few seconds share them.", 1_200),
  projects: Schema.Array(ObservedProject).annotations({ description: "The projects of this machine." }),
  applications: Schema.Array(ObservedApplication).annotations({
    description: "The applications of the platform, and those that are declared and not there."
  }),
  servers: Schema.Array(ObservedServer).annotations({ description: "The stored servers." }),
  errors: Schema.Array(Schema.String).annotations({
    description: "What could not be listed at all, and why; empty when everything could."
  })
}).annotations({ identifier: "Overview" })
export interface Overview extends Schema.Schema.Type<typeof Overview> {}
