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
  /** Response body as JSON, with no field left out. */
  readonly body: string
}

/** A started run. It outlives its caller. */
export interface StartedRun<A> {
  readonly run: Run
  /** Events of the run up to its end. */
  readonly events: Stream.Stream<RunEvent, BerthError>
  /** Waits for the end of the run and returns the answer of its endpoint. */
  readonly result: Effect.Effect<Answer<A>, BerthError>
}

/** A running command in a container, until the scope closes. */
export interface OpenedExec {
  readonly opened: ExecOpened
  /** Output, then the exit as the last event. Can be consumed once. */
  readonly events: Stream.Stream<ExecEvent, BerthError>
  /** Sends input; completes once the service has accepted all of it. */
  readonly send: (data: Uint8Array) => Effect.Effect<void, BerthError>
  /** Closes the command's stdin. */
  readonly endInput: Effect.Effect<void, BerthError>
  readonly resize: (size: TerminalSize) => Effect.Effect<void, BerthError>
}

/** Client of a Berth service, remote or in this process. */
export class Berth extends Context.Tag("berth/client/Berth")<Berth, {
  /** Display name of the service, usually its address. */
  readonly where: string
  /**
   * True if the run outlives this process because another one executes it. Without an id: if a run to be started would.
   */
  readonly outlives: (run?: string) => Effect.Effect<boolean>
  /** Calls an endpoint. */
  readonly use: <A>(call: Call<A>) => Effect.Effect<A, BerthError>
  /** Calls an endpoint and returns its raw body too. */
  readonly answer: <A>(call: Call<A>) => Effect.Effect<Answer<A>, BerthError>
  /** Calls an endpoint that starts a run, without waiting for the run to end. */
  readonly start: <A>(call: Call<A>, options?: { readonly key?: string }) => Effect.Effect<StartedRun<A>, BerthError>
  /** Calls an endpoint that starts a run, reports its events, and waits for its end. */
  readonly run: <A>(
    call: Call<A>,
    heard?: (event: RunEvent) => Effect.Effect<void>
  ) => Effect.Effect<A, BerthError>
  /** Events of a run up to its end: all of them, or those after the event `after`. */
  readonly runEvents: (id: string, after?: string) => Stream.Stream<RunEvent, BerthError>
  /** Log lines of a stack or a container of a server as they arrive; endless unless `until` is given. */
  readonly followLogs: (serverId: string, logs: FollowedLogs) => Stream.Stream<LogEvent, BerthError>
  /** Log lines of several projects as they arrive, each with its project; endless unless `until` is given. */
  readonly followProjectLogs: (logs: FollowedProjects) => Stream.Stream<LogEvent, BerthError>
  /** Runs a command in a container of a server's stack, until the scope closes. */
  readonly exec: (serverId: string, request: ExecRequest) => Effect.Effect<OpenedExec, BerthError, Scope.Scope>
}>() {}

export type Door = "cli" | "mcp" | "web" | "script"
