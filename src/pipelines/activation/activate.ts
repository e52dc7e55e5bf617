import { Data, Deferred, Duration, Effect, Mailbox, Option, type Scope, Stream } from "effect"
import { activateCommand, type Activation } from "../../remote/activation/activateCommand.ts"
import { parseComposeError } from "../../remote/activation/parseComposeError.ts"
import { type Bridge, parseBridges } from "../../remote/bridge/bridgeCommand.ts"
import type { ServerFacts } from "../../remote/deploy/preflightCommand.ts"
import { scrubServerOutput } from "../../remote/execute.ts"
import { type ContainerState, parseInspect } from "../../remote/stack/inspectCommand.ts"
import { DeployFailed } from "../../schema/deploy/Deploy.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import type { SshError } from "../../schema/servers/Ssh.ts"
import { emitOutput } from "../../services/runs/events/emitOutput.ts"
import type { Steps } from "../../services/runs/Steps.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import { spawnWatched, type WatchedError } from "../../services/ssh/spawnWatched.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { describeStateAfter, halfway, requireUnchanged, stoppedHalfway, untouched } from "./failureState.ts"
import { type KeptRelease, makeReleaseNotKept, parseKeptRelease } from "./keptRelease.ts"
import { parseStartRemarks, type StartRemarks } from "./startRemarks.ts"

/** The server could not load the image and has undone the attempt. */
export class LoadFailed extends Data.TaggedError("LoadFailed")<{
  readonly reason: string
  readonly state: string
}> {
  override get message() {
    return this.reason
  }
}

/** Pulling images, loading them and starting a stack print nothing until they are done. */
const silenceTimeout = Duration.minutes(30)

/** Time limit of the hook before the start, which may also be silent that long; zero without a hook. */
const hookTime = (release: ReadonlyArray<string>) => {
  const [, , , seconds = "0"] = release.find((line) => line.startsWith("hook\t"))?.split("\t") ?? []
  return Duration.seconds(Number(seconds))
}

/** Capacity of the buffer of unread lines. */
const linesAhead = 256

/** Facts of a server that an activation depends on; `deployed` lists the env files of the version being replaced. */
export type ActivationFacts = Pick<ServerFacts, "composeKind" | "composeVersion" | "containerdStore" | "deployed">

type Broken = DeployFailed | WatchedError

/**
 * Temporary containers that take over the requests of services while these are recreated, with their first inspection.
 */
export interface StartedBridges {
  readonly bridges: ReadonlyArray<Bridge>
  readonly seen: ReadonlyArray<ContainerState>
}

/** An activation in progress on the server, stage by stage. */
export interface RunningActivation {
  /** Completes when the image is loaded. */
  readonly loaded: Effect.Effect<void, LoadFailed | Broken>
  /** Completes when the hook before the start has ended; immediately if the activation has no `hook` line. */
  readonly hooked: Effect.Effect<void, LoadFailed | Broken>
  /**
   * Bridges, once they are started; the activation pauses at this point. Empty if the activation has no `bridge` lines.
   */
  readonly bridged: Effect.Effect<StartedBridges, LoadFailed | Broken>
  /** Remarks about the start, once the stack is started. */
  readonly started: Effect.Effect<StartRemarks, LoadFailed | Broken>
  /** First inspection of the containers, once the stack is started. */
  readonly seen: Effect.Effect<ReadonlyArray<ContainerState>, LoadFailed | Broken>
  /** Release that the server recorded, once the activation has ended. */
  readonly keptRelease: Effect.Effect<KeptRelease>
  /** Ends the input, so that a load in progress fails and is undone. Has no effect from the start on. */
  readonly cut: Effect.Effect<void>
}

/**
 * Starts the activation. The server completes or undoes it even if the caller stops waiting. Output is read in the
 * background, so a stage can be awaited again after an interruption.
 * @param facts of a server whose compose was found to be usable
 * @param input image data to load, unless it comes from an uploaded file
 */
export const activate = Effect.fn("deploy.activate")(function*<E extends { readonly message: string }>(
  server: ServerAccess,
  { composeKind, composeVersion, containerdStore }: ActivationFacts,
  activation: Omit<Activation, "composeKind" | "composeVersion" | "containerdStore">,
  input?: Stream.Stream<Uint8Array, E>
): Effect.fn.Return<RunningActivation, SshError, Ssh | Scope.Scope | Settings | Steps> {
  const output = yield* emitOutput("stdout")
  const broken = yield* Deferred.make<never, DeployFailed>()
  const cut = yield* Deferred.make<void>()
  const fed = input === undefined ? undefined : Stream.tapError(
    Stream.haltWhenDeferred(input, cut),
    ({ message }) => Deferred.fail(broken, new DeployFailed({ step: "load", reason: message, state: untouched }))
  )
  const compose = { composeKind: composeKind === "none" ? "v2" as const : composeKind, composeVersion }
  const command = activateCommand({ ...activation, ...compose, containerdStore }, server.useSudo)
  const process = yield* spawnWatched(server, command, {
    silence: Duration.sum(silenceTimeout, hookTime(activation.release)),
    ...fed === undefined ? {} : { input: fed }
  })
  const lines = yield* Mailbox.fromStream(process.lines, { capacity: linesAhead })
  const rest = Stream.mkString(Stream.map(Mailbox.toStream(lines), (line) => `${line}\n`))

  /** Reads up to the line that announces the next stage; fails with the server's message if that line does not come. */
  const until = (stage: string, next: string): Effect.Effect<ReadonlyArray<string>, LoadFailed | Broken> =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      while (true) {
        const line = yield* Effect.optionFromOptional(lines.take)
        if (Option.isNone(line)) {
          const words = scrubServerOutput(server, yield* process.stderr)
          return yield* new DeployFailed({
            step: stage,
            reason: words === "" ? stoppedHalfway : words,
            // The load had not started yet.
            state: stage === "load" && !seen.includes("step\tload") ? requireUnchanged : halfway
          })
        }
        if (line.value === `step\t${next}`) return seen
        if (line.value.startsWith("failed\t")) {
          const [, step = stage, restored, before] = line.value.split("\t")
          const said = yield* rest
          const reason = scrubServerOutput(server, step === "start" ? parseComposeError(said) : said) ||
            "the server did not say why"
          const state = describeStateAfter({ step, isRestored: restored === "yes", wasRunning: before === "running" })
          return yield* step === "load" ? new LoadFailed({ reason, state }) : new DeployFailed({ step, reason, state })
        }
        // Output of docker load and compose.
        const said = /^(?:loaded|hooked|bridged|started)\t(.*)$/.exec(line.value)?.[1]
        if (said === undefined) seen.push(line.value)
        else if (said !== "") yield* output.emit(`${said}\n`)
      }
    }).pipe(Effect.raceFirst(Deferred.await(broken)))

  const hasBridges = activation.release.some((line) => line.startsWith("bridge\t"))
  const hasHook = activation.release.some((line) => line.startsWith("hook\t"))
  const beforeStart = hasBridges ? "bridge" : "start"
  const [loaded, hooked, bridged, started, seen] = yield* Effect.all([
    Deferred.make<void, LoadFailed | Broken>(),
    Deferred.make<void, LoadFailed | Broken>(),
    Deferred.make<StartedBridges, LoadFailed | Broken>(),
    Deferred.make<StartRemarks, LoadFailed | Broken>(),
    Deferred.make<ReadonlyArray<ContainerState>, LoadFailed | Broken>()
  ])
  const kept = yield* Deferred.make<KeptRelease>()
  const stages = Effect.gen(function*() {
    yield* until("load", hasHook ? "beforeStart" : beforeStart)
    yield* Deferred.succeed(loaded, undefined)
    if (hasHook) yield* until("beforeStart", beforeStart)
    yield* Deferred.succeed(hooked, undefined)
    if (hasBridges) {
      const lines = yield* until("bridge", "switch")
      yield* Deferred.succeed(bridged, { bridges: parseBridges(lines), seen: parseInspect(lines.join("\n")) })
      yield* until("switch", "start")
    } else yield* Deferred.succeed(bridged, { bridges: [], seen: [] })
    yield* Deferred.succeed(started, parseStartRemarks(yield* until("start", "health")))
    yield* Deferred.succeed(seen, parseInspect((yield* until("health", "release")).join("\n")))
    yield* Deferred.succeed(kept, parseKeptRelease(yield* until("release", "end")))
  })
  yield* stages.pipe(
    Effect.catchAll((error) =>
      Effect.all([
        Deferred.fail(loaded, error),
        Deferred.fail(hooked, error),
        Deferred.fail(bridged, error),
        Deferred.fail(started, error),
        Deferred.fail(seen, error),
        // The stack is already running once the containers were inspected, so a later failure does not fail the deploy.
        Deferred.succeed(kept, makeReleaseNotKept(error.message))
      ], { discard: true })
    ),
    Effect.forkScoped
  )
  return {
    loaded: Deferred.await(loaded),
    hooked: Deferred.await(hooked),
    bridged: Deferred.await(bridged),
    started: Deferred.await(started),
    seen: Deferred.await(seen),
    keptRelease: Deferred.await(kept),
    cut: Effect.asVoid(Deferred.succeed(cut, undefined))
  }
})
