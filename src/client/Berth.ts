import { Context, type Effect, type Scope, type Stream } from "effect"
import type { Run } from "../schema/runs/Run.ts"
import type { ExecEvent, ExecOpened, ExecRequest, TerminalSize } from "../schema/servers/Exec.ts"
import type { LogEvent } from "../schema/servers/Logs.ts"
import type { BerthError, CallFailure } from "./BerthError.ts"
import type { Accepted, Endpoints } from "./endpoints.ts"
import type { FollowedLogs, FollowedProjects } from "./followLogs.ts"
import type { RunEvent } from "./runEvents.ts"

/** A call of one endpoint: `(api) => api.listServers({})`. */
export type Call<A> = (api: Endpoints) => Effect.Effect<A, CallFailure | Accepted>

/** Answer of an endpoint, decoded and raw. */
export interface Answer<A> {
  readonly value: A
  /** The body of the answer: JSON, with nothing left out. */
  readonly body: string
}

/** A started run. It outlives its caller. */
export interface StartedRun<A> {
  readonly run: Run
  /** Its events up to its end. */
  readonly events: Stream.Stream<RunEvent, BerthError>
  /** Waits for its end, and answers what its endpoint answers. */
  readonly result: Effect.Effect<Answer<A>, BerthError>
}

/** A command that runs in a container until the scope closes. */
export interface OpenedExec {
  readonly opened: ExecOpened
  /** Its output and its exit, which is the last; read once. */
  readonly events: Stream.Stream<ExecEvent, BerthError>
  /** Hands it input; done when that is on its way to the command. */
  readonly send: (data: Uint8Array) => Effect.Effect<void, BerthError>
  /** Ends its input. */
  readonly endInput: Effect.Effect<void, BerthError>
  readonly resize: (size: TerminalSize) => Effect.Effect<void, BerthError>
}

/** The service, wherever it is. */
export class Berth extends Context.Tag("berth/client/Berth")<Berth, {
  /** Display name of the service, usually its address. */
  readonly where: string
  /** Tells whether a run outlives this process, because another one executes it; without an id, one to be started. */
  readonly outlives: (run?: string) => Effect.Effect<boolean>
  /** Calls an endpoint. */
  readonly use: <A>(call: Call<A>) => Effect.Effect<A, BerthError>
  /** Calls an endpoint, and answers its body too. */
  readonly answer: <A>(call: Call<A>) => Effect.Effect<Answer<A>, BerthError>
  /** Calls an endpoint that starts a run, and does not wait for the end of the run. */
  readonly start: <A>(call: Call<A>, options?: { readonly key?: string }) => Effect.Effect<StartedRun<A>, BerthError>
  /** Calls an endpoint that starts a run, tells what happens in it, and waits for its end. */
  readonly run: <A>(
    call: Call<A>,
    heard?: (event: RunEvent) => Effect.Effect<void>
  ) => Effect.Effect<A, BerthError>
  /** Events of a run up to its end: all of them, or those after the event `after`. */
  readonly runEvents: (id: string, after?: string) => Stream.Stream<RunEvent, BerthError>
  /** The log lines of a stack or a container of a server as they come, without end unless `until` is given. */
  readonly followLogs: (serverId: string, logs: FollowedLogs) => Stream.Stream<LogEvent, BerthError>
  /** The same of several projects, each line with its project. */
  readonly followProjectLogs: (logs: FollowedProjects) => Stream.Stream<LogEvent, BerthError>
  /** Runs a command in a container of a server's stack, until the scope closes. */
  readonly exec: (serverId: string, request: ExecRequest) => Effect.Effect<OpenedExec, BerthError, Scope.Scope>
}>() {}

export type Door = "cli" | "mcp" | "web" | "script"
