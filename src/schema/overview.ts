import { Schema } from "effect"
import { FileProblem } from "./projects.ts"
import { RequestedBy, Run, RunKind, RunState } from "./runs.ts"
import { version } from "./session.ts"
import { field, flag, number, projectPath, storedServerId, text, textOrNull, texts } from "./validation.ts"

/** Kinds of problems, in order of cause: a later one may follow from an earlier one. */
export const CareKind = Schema.Literal("server", "files", "run", "stack", "route", "application", "disk")
export type CareKind = typeof CareKind.Type

const about = (description: string) => Schema.optionalWith(Schema.String, { exact: true }).annotations({ description })

/** Problem found by the overview, with the next action. */
export const NeedsCare = Schema.Struct({
  kind: CareKind.annotations({
    description:
      "A server that cannot be used, a file of a project that cannot be read, a failed last run, a stack that is not well, " +
      "a route that leads nowhere, an application that differs from its declaration, or a disk that is nearly full."
  }),
  severity: Schema.Literal("bad", "warn").annotations({
    description: "bad: something does not work; warn: something should be looked at."
  }),
  name: text("The project, application, server or route that it is about.", "hello"),
  reason: text("The cause.", "is degraded: web is Restarting (1) 3 seconds ago"),
  action: text("The next action.", "Read its log"),
  projectPath: about("The directory of the project."),
  serverId: about("The id of the server."),
  remotePath: about("The remote path of the stack."),
  environment: about("The environment that the stack is."),
  appName: about("The name of the application."),
  runId: about("The id of the run."),
  observedAt: text("When it was observed, in UTC.", "2026-01-02T03:04:05.678Z")
}).annotations({ identifier: "NeedsCare" })
export interface NeedsCare extends Schema.Schema.Type<typeof NeedsCare> {}

/** Describes a problem in one line. */
export const describeCare = ({ name, reason }: Pick<NeedsCare, "name" | "reason">): string =>
  `${name}${/^(?:is|has|does|leads|lacks) /.test(reason) ? " " : ": "}${reason}`

/** True if less than 2 GB or a tenth of a disk is free: images of a deploy take hundreds of megabytes. */
export const isNearlyFull = (
  { freeBytes, totalBytes }: { readonly freeBytes: number; readonly totalBytes: number }
): boolean => freeBytes < 2_000_000_000 || freeBytes < totalBytes / 10

/** True if less than a twentieth of a disk's inodes is free: without any, no file can be written. */
export const lacksInodes = (
  { freeInodes, inodes }: { readonly inodes?: number; readonly freeInodes?: number }
): boolean => inodes !== undefined && freeInodes !== undefined && freeInodes < inodes / 20

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
const StackState = Schema.Literal("running", "degraded", "stopped", "absent")
type StackState = typeof StackState.Type

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
  environment: Schema.optionalWith(Schema.String, { exact: true }).annotations({
    description: "The environment of the project that it is; absent without one."
  }),
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
  freeBytes: number("Space left for the user that Berth logs in as, in bytes.", 20_000_000_000),
  inodes: Schema.optionalWith(Schema.Number, { exact: true }).annotations({
    description: "Its inodes, one for each file; absent where it has no fixed number of them."
  }),
  freeInodes: Schema.optionalWith(Schema.Number, { exact: true }).annotations({ description: "Inodes left." })
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

/** First steps of a fresh installation, in their order. */
export const FirstStep = Schema.Literal("projects", "server", "deploy")
export type FirstStep = typeof FirstStep.Type

/**
 * First step that is still to be done, the same for all clients: without a server nothing can be deployed, and a server
 * alone runs nothing. Undefined once there has been a first deploy, on a server or a platform.
 * @param facts `hasProjects`: the directory of the projects is set up
 */
export const findFirstStep = ({ hasDeployed, hasProjects, hasServer }: {
  readonly hasProjects: boolean
  readonly hasServer: boolean
  readonly hasDeployed: boolean
}): FirstStep | undefined => {
  if (hasDeployed) return undefined
  return !hasProjects ? "projects" : !hasServer ? "server" : "deploy"
}

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
  }),
  firstStep: Schema.optionalWith(FirstStep, { exact: true }).annotations({
    description:
      "The next of the first steps of a fresh installation: name the directory of the projects, store a server, or deploy a " +
      "project; absent once something was deployed."
  })
}).annotations({ identifier: "Overview" })
export interface Overview extends Schema.Schema.Type<typeof Overview> {}

/** Result of one check of a dependency. */
export const Finding = Schema.Struct({
  name: text("Subject of the check.", "settings", "platform", "git host", "proxy file", "server Main"),
  ok: flag("True when it is well."),
  detail: text("Finding."),
  fix: Schema.optional(Schema.String).annotations({
    description: "Remedy in one sentence; with every line that failed."
  }),
  setUp: Schema.optional(Schema.Boolean).annotations({
    description: "false of a line that failed because no setting names that part yet: the rest works without it."
  }),
  latencyMs: Schema.optional(Schema.Number).annotations({
    description: "Duration of the check, in milliseconds."
  })
}).annotations({ identifier: "Finding" })
export interface Finding extends Schema.Schema.Type<typeof Finding> {}

/** Name of the finding about the settings file itself. */
export const settingsFinding = "settings"
/** Name of the finding about the directory of the projects. */
export const projectsFinding = "projects"

/** Findings whose fix is shown even if they are not set up: a fresh installation starts with them. */
export const firstSteps: ReadonlySet<string> = new Set([settingsFinding, projectsFinding])

/** State of a finding; `unused` is an optional part without settings, which is not a failure. */
export const classifyFinding = ({ ok, setUp }: Finding): "well" | "failed" | "unused" =>
  ok ? "well" : setUp === false ? "unused" : "failed"

/** Health of the service, and of its dependencies when asked for. */
export const Health = Schema.Struct({
  status: Schema.Literal("ok", "degraded").annotations({
    description: "degraded: a line of the dependencies failed. Without dependencies it is ok."
  }),
  version: text("The version of the service.", version),
  uptimeSeconds: number("For how many seconds the service has been running.", 86_400),
  dependencies: Schema.optional(Schema.Array(Finding)).annotations({
    description: "A line for everything that the service depends on; only when asked for with deep=true."
  })
}).annotations({ identifier: "Health" })
export interface Health extends Schema.Schema.Type<typeof Health> {}
