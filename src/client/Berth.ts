import { Context } from "effect"
import type { Effect, Stream } from "effect"
import type { LogEvent } from "../schema/Logs.ts"
import type { Run } from "../schema/Run.ts"
import type { BerthError, CallFailure } from "./BerthError.ts"
import type { Accepted, Endpoints } from "./endpoints.ts"
import type { FollowedLogs } from "./followedLogs.ts"
import type { RunEvent } from "./runEvents.ts"

/** A call of one endpoint: `(api) => api.listServers({})`. */
export type Call<A> = (api: Endpoints) => Effect.Effect<A, CallFailure | Accepted>

/** What an endpoint answered, as it is understood and as it came. */
export interface Answer<A> {
  readonly value: A
  /** The body of the answer: JSON, with nothing left out. */
  readonly body: string
}

/** A run that was started. It goes on whatever becomes of whoever started it. */
export interface StartedRun<A> {
  readonly run: Run
  /** What happens in it, up to its end. */
  readonly events: Stream.Stream<RunEvent, BerthError>
  /** Waits for its end, and answers what its endpoint answers. */
  readonly result: Effect.Effect<Answer<A>, BerthError>
}

/** The service, wherever it is. */
export class Berth extends Context.Tag("berth/client/Berth")<Berth, {
  /** What people call the place that it is at: its address, usually. */
  readonly where: string
  /** Whether its runs go on when this process ends. */
  readonly outlives: boolean
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
  /** What happens in a run, up to its end: the whole run first, or what came after the event `after`. */
  readonly runEvents: (id: string, after?: string) => Stream.Stream<RunEvent, BerthError>
  /** The log lines of a stack or a container of a server as they come, without end. */
  readonly followLogs: (serverId: string, logs: FollowedLogs) => Stream.Stream<LogEvent, BerthError>
}>() {}

/** Which door a client is. */
export type Door = "cli" | "mcp" | "web" | "script"
