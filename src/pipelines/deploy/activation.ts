import { Data, Deferred, Effect, Mailbox, Option, Stream } from "effect"
import type { Scope } from "effect"
import { DeployFailed } from "../../schema/Deploy.ts"
import type { ServerAccess } from "../../schema/Server.ts"
import type { SshError } from "../../schema/Ssh.ts"
import type { Steps } from "../../services/runs/Steps.ts"
import { tellOutput } from "../../services/runs/tellOutput.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import { spawnWatched, type WatchedError } from "../../services/ssh/spawnWatched.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { activateCommand, type Activation } from "../remote/activate.ts"
import { serverWords } from "../remote/execute.ts"
import { type ContainerState, parseInspect } from "../remote/inspect.ts"
import { halfway, stateAfter, stoppedHalfway, unchanged, untouched } from "./failureState.ts"
import { type Kept, keptNot, parseKept } from "./kept.ts"
import { parseStartRemarks, type StartRemarks } from "./startRemarks.ts"

/** The server could not load the image, says why, and has undone the attempt. */
export class LoadFailed extends Data.TaggedError("LoadFailed")<{
  readonly reason: string
  /** What runs on the server now. */
  readonly state: string
}> {
  override get message() {
    return this.reason
  }
}

/** Pulling and loading of images, and starting of a stack, are silent for as long as they take. */
const silence = "30 minutes"
/** Lines that are read ahead of who waits for them. */
const linesAhead = 256

type Broken = DeployFailed | WatchedError

/** An activation that is under way on the server, stage by stage. */
export interface RunningActivation {
  /** Completes when the image is loaded. */
  readonly loaded: Effect.Effect<void, LoadFailed | Broken>
  /** What is to be told of the start, when the stack is started. */
  readonly started: Effect.Effect<StartRemarks, LoadFailed | Broken>
  /** A first look at the containers, once the stack is started. */
  readonly seen: Effect.Effect<ReadonlyArray<ContainerState>, LoadFailed | Broken>
  /** What the server has kept of it, once it has come to its end. */
  readonly kept: Effect.Effect<Kept>
  /** Ends what it loads, so that a load that is under way fails and is undone; from the start on it changes nothing. */
  readonly cut: Effect.Effect<void>
}

/**
 * Starts the activation. The server carries it through, or undoes it, even when nobody waits for it any more: what it says
 * is read whoever waits, so a stage can be waited for again after an interruption.
 * @param input what it loads, where that does not come from an uploaded file
 */
export const activate = Effect.fn("deploy.activate")(function*<E extends { readonly message: string }>(
  server: ServerAccess,
  activation: Activation,
  input?: Stream.Stream<Uint8Array, E>
): Effect.fn.Return<RunningActivation, SshError, Ssh | Scope.Scope | Settings | Steps> {
  const output = yield* tellOutput("stdout")
  const broken = yield* Deferred.make<never, DeployFailed>()
  const cut = yield* Deferred.make<void>()
  const fed = input === undefined ? undefined : Stream.tapError(
    Stream.haltWhenDeferred(input, cut),
    ({ message }) => Deferred.fail(broken, new DeployFailed({ step: "load", reason: message, state: untouched }))
  )
  const process = yield* spawnWatched(server, activateCommand(activation, server.useSudo), {
    silence,
    ...fed === undefined ? {} : { input: fed }
  })
  const lines = yield* Mailbox.fromStream(process.lines, { capacity: linesAhead })
  const rest = Stream.mkString(Stream.map(Mailbox.toStream(lines), (line) => `${line}\n`))

  /** Reads up to the line that announces the next stage; fails with what the server says when it does not come. */
  const until = (stage: string, next: string): Effect.Effect<ReadonlyArray<string>, LoadFailed | Broken> =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      while (true) {
        const line = yield* Effect.optionFromOptional(lines.take)
        if (Option.isNone(line)) {
          const words = serverWords(server, yield* process.stderr)
          return yield* new DeployFailed({
            step: stage,
            reason: words === "" ? stoppedHalfway : words,
            // It had not come to the load yet.
            state: stage === "load" && !seen.includes("step\tload") ? unchanged : halfway
          })
        }
        if (line.value === `step\t${next}`) return seen
        if (line.value.startsWith("failed\t")) {
          const [, step = stage, restored, before] = line.value.split("\t")
          const reason = serverWords(server, yield* rest) || "the server did not say why"
          const state = stateAfter({ step, isRestored: restored === "yes", wasRunning: before === "running" })
          return yield* step === "load" ? new LoadFailed({ reason, state }) : new DeployFailed({ step, reason, state })
        }
        // What docker load and compose said.
        const said = /^(?:loaded|started)\t(.*)$/.exec(line.value)?.[1]
        if (said === undefined) seen.push(line.value)
        else if (said !== "") yield* output.tell(`${said}\n`)
      }
    }).pipe(Effect.raceFirst(Deferred.await(broken)))

  const [loaded, started, seen] = yield* Effect.all([
    Deferred.make<void, LoadFailed | Broken>(),
    Deferred.make<StartRemarks, LoadFailed | Broken>(),
    Deferred.make<ReadonlyArray<ContainerState>, LoadFailed | Broken>()
  ])
  const kept = yield* Deferred.make<Kept>()
  const stages = Effect.gen(function*() {
    yield* until("load", "start")
    yield* Deferred.succeed(loaded, undefined)
    yield* Deferred.succeed(started, parseStartRemarks(yield* until("start", "health")))
    yield* Deferred.succeed(seen, parseInspect((yield* until("health", "release")).join("\n")))
    yield* Deferred.succeed(kept, parseKept(yield* until("release", "end")))
  })
  yield* stages.pipe(
    Effect.catchAll((error) =>
      Effect.all([
        Deferred.fail(loaded, error),
        Deferred.fail(started, error),
        Deferred.fail(seen, error),
        // Once the containers were seen the stack runs: no failure of this is the deploy's.
        Deferred.succeed(kept, keptNot(error.message))
      ], { discard: true })
    ),
    Effect.forkScoped
  )
  return {
    loaded: Deferred.await(loaded),
    started: Deferred.await(started),
    seen: Deferred.await(seen),
    kept: Deferred.await(kept),
    cut: Effect.asVoid(Deferred.succeed(cut, undefined))
  }
})
