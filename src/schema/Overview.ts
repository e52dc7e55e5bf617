import { Schema } from "effect"
import { NeedsCare } from "./NeedsCare.ts"
import { FileProblem } from "./projects/Project.ts"
import { RequestedBy, Run, RunKind, RunState } from "./runs/Run.ts"
import { field, flag, number, projectPath, storedServerId, text, textOrNull, texts } from "./words/describedFields.ts"

const time = "2026-01-02T03:04:05.678Z"

/** Maximum age of a shared overview, in milliseconds. */
export const overviewMaxAgeMillis = 3_000

/** Time of an observation, and the error if it failed. */
const observation = {
  observedAt: text("When this was observed, or was tried to be, in UTC.", time),
  error: Schema.optional(Schema.String).annotations({
    description: "Why it could not be observed; absent where it could."
  })
}

/** State of a stack on a server. */
export const StackState = Schema.Literal("running", "degraded", "stopped", "absent")
export type StackState = typeof StackState.Type

/** State of a project, the same for all clients. */
export const ProjectState = Schema.Literal("running", "degraded", "stopped", "not deployed", "unknown")
export type ProjectState = typeof ProjectState.Type

/** State of a project by that of its stack; null for one that was not observed. */
export const toProjectState = (state: StackState | null): ProjectState =>
  state === null ? "unknown" : state === "absent" ? "not deployed" : state

const ContainerState = Schema.Struct({
  name: text("The name of the container.", "hello-web-1"),
  status: text("Its status in Docker's words.", "Restarting (1) 3 seconds ago")
})

/** Stack of a project on a server. */
export const ObservedStack = Schema.Struct({
  serverId: storedServerId,
  serverName: textOrNull("Name of the server; null when none of this id is stored.", "Main"),
  remotePath: text("Where it is on the server.", "~/containers/hello"),
  state: Schema.NullOr(StackState).annotations({
    description:
      "running: all its containers are up; degraded: some are not, or one is unhealthy, paused or starts again and " +
      "again; stopped: it is deployed and none is up; absent: it is not deployed; null: not observed."
  }),
  containers: field(
    Schema.NullOr(Schema.Struct({
      up: number("Number of containers that are up.", 2),
      total: number("Number of containers; those that have ended well do not count.", 2)
    })),
    "Its containers; null when it was not observed."
  ),
  containerNames: texts("The names of its containers, stopped ones too."),
  containerStates: Schema.optionalWith(Schema.Array(ContainerState), { exact: true }).annotations({
    description: "Its containers with their states, stopped ones too; absent when it was not observed."
  }),
  failing: Schema.optionalWith(Schema.Array(ContainerState), { exact: true }).annotations({
    description: "The containers that degrade it; absent where none does."
  }),
  release: textOrNull("Its current release; null when no deploy has noted one.", "20260102T030405Z-1a2b"),
  ...observation
}).annotations({ identifier: "ObservedStack" })
export interface ObservedStack extends Schema.Schema.Type<typeof ObservedStack> {}

/** Last completed run of a project. */
export const LastRun = Schema.Struct({
  id: text("Its id.", "01m80yqq5mpfzvahn1sfvx7mvm"),
  kind: RunKind.annotations({ description: "The kind of run." }),
  state: RunState.annotations({ description: "The state in which it ended." }),
  requestedBy: field(RequestedBy, "Requester."),
  endedAt: textOrNull("When it ended, in UTC.", time),
  reason: textOrNull("The first line of its error or message; null where it succeeded.", "web-1 is unhealthy")
}).annotations({ identifier: "LastRun" })
export interface LastRun extends Schema.Schema.Type<typeof LastRun> {}

/** Project with its stacks on servers. */
export const ObservedProject = Schema.Struct({
  name: text("The name of its directory.", "hello"),
  path: projectPath,
  state: ProjectState.annotations({
    description:
      "The state of its stack on the server that container.json names, the worst one of several targets, or else that on the " +
      "first server that has it."
  }),
  stateReason: textOrNull(
    "Why the state is unknown; the servers of the targets in it, where not all are.",
    "no answer within 2 s"
  ),
  changes: Schema.NullOr(Schema.Number).annotations({
    description:
      "Number of files and images that a deploy to the server that container.json names would change, the most of several " +
      "targets; null where that was not compared.",
    examples: [2]
  }),
  servers: Schema.Array(ObservedStack).annotations({
    description:
      "Its stack on the server that container.json names, or on those of its targets, the worst first; and on every other " +
      "server that has it."
  }),
  run: field(Schema.NullOr(Run), "The run that is under way for it, or else the next that waits; null without one."),
  lastRun: field(Schema.NullOr(LastRun), "Its last run that has ended; null where none is known."),
  problems: Schema.Array(FileProblem).annotations({
    description: "Why its container.json, platform.json or compose file cannot be used; empty where they can."
  }),
  urls: texts("Links to it: the domains that are routed to it, and the ports that its containers publish.", [
    "https://hello.example.com",
    "http://203.0.113.5:2000"
  ]),
  ...observation
}).annotations({ identifier: "ObservedProject" })
export interface ObservedProject extends Schema.Schema.Type<typeof ObservedProject> {}

/** True if the last run of a project failed and no other is under way. */
export const hasFailedLastRun = ({ lastRun, run }: Pick<ObservedProject, "lastRun" | "run">): boolean =>
  run === null && (lastRun?.state === "failed" || lastRun?.state === "interrupted")

/** Application of the platform, or declared by a project. */
export const ObservedApplication = Schema.Struct({
  name: text("Its name.", "hello"),
  uuid: textOrNull("Its uuid on the platform; null when the platform has none of this name.", "a1b2c3d4"),
  projectPath: textOrNull("The directory of the project that declares it; null when none does.", "/home/ann/hello"),
  status: textOrNull("State as the platform reports it; null when it does not.", "running:healthy"),
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
      "Use of the disk: containers, the stacks below ~/containers; docker, its images, containers and volumes.",
    examples: [["containers", "docker"]]
  }),
  mountedOn: text("Where it is mounted.", "/"),
  totalBytes: number("Its size, in bytes.", 80_000_000_000),
  freeBytes: number("Space left for the user that Berth logs in as, in bytes.", 20_000_000_000)
}).annotations({ identifier: "ServerDisk" })
export interface ServerDisk extends Schema.Schema.Type<typeof ServerDisk> {}

/** Stored server and its reachability. */
export const ObservedServer = Schema.Struct({
  id: storedServerId,
  name: text("Display name.", "Main"),
  answers: flag("True when it let Berth in and ran a command. With an error too, Docker on it cannot be used."),
  latencyMs: Schema.NullOr(Schema.Number).annotations({
    description: "Time until it answered, in milliseconds; null when it did not.",
    examples: [42]
  }),
  disks: Schema.Array(ServerDisk).annotations({
    description: "The file systems that deploys fill, each once; empty where it does not tell."
  }),
  load: Schema.optionalWith(
    Schema.Struct({
      minute: number("Its load, averaged over a minute: processes that run or wait.", 0.42),
      processors: number("The processors that it has.", 4)
    }),
    { exact: true }
  ).annotations({ description: "Load of the server; absent where it does not tell." }),
  memory: Schema.optionalWith(
    Schema.Struct({
      totalBytes: number("Its memory, in bytes.", 8_000_000_000),
      freeBytes: number("Available memory, in bytes.", 3_000_000_000)
    }),
    { exact: true }
  ).annotations({ description: "Its memory; absent where it does not tell." }),
  ...observation
}).annotations({ identifier: "ObservedServer" })
export interface ObservedServer extends Schema.Schema.Type<typeof ObservedServer> {}

/** State of all projects, servers and applications. */
export const Overview = Schema.Struct({
  observedAt: text("When the observations began, in UTC.", time),
  ageMs: number("Age in milliseconds: callers within a few seconds share them.", 1_200),
  projects: Schema.Array(ObservedProject).annotations({ description: "The projects of this machine." }),
  applications: Schema.Array(ObservedApplication).annotations({
    description: "The applications of the platform, and those that are declared and not there."
  }),
  servers: Schema.Array(ObservedServer).annotations({ description: "The stored servers." }),
  needsCare: Schema.Array(NeedsCare).annotations({
    description: "Everything that needs care, most severe first."
  }),
  errors: Schema.Array(Schema.String).annotations({
    description: "Sources that could not be listed at all, and why; empty when everything could."
  })
}).annotations({ identifier: "Overview" })
export interface Overview extends Schema.Schema.Type<typeof Overview> {}
