import { Duration, Effect, Exit, Option, Ref } from "effect"
import { abortActivation, continueActivation, noteSwitch } from "../../remote/bridge/bridgeCommand.ts"
import { execute } from "../../remote/execute.ts"
import { portOpenExit } from "../../remote/server/portOpenCommand.ts"
import { DeployFailed } from "../../schema/deploy/Deploy.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { pluralize } from "../../schema/words/pluralize.ts"
import { computeSha256 } from "../../services/bytes/sha256.ts"
import { Steps } from "../../services/runs/Steps.ts"
import { uncancellable } from "../../services/runs/uncancellable.ts"
import { bridgePorts } from "../../services/settings/bridgePorts.ts"
import { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import type { RunningActivation } from "../activation/activate.ts"
import { stateUnknown } from "../activation/failureState.ts"
import { awaitHealth } from "../activation/health/awaitHealth.ts"
import { describeUnhealthy } from "../activation/health/describeUnhealthy.ts"
import type { HealthOptions } from "../activation/health/healthOptions.ts"
import { addServers, removeServers } from "../routes/balancers.ts"
import type { EditServices } from "../routes/editProxyFile.ts"
import { type ProxyLocation, proxyLocation } from "../routes/proxyLocation.ts"
import { BridgeRefused } from "./BridgeRefused.ts"
import { isSame } from "./readProxyView.ts"
import { moveServersInProxy, toNotedProxyFile } from "./restoreRoutes.ts"
import { runReturnStep } from "./returnStep.ts"
import type { Rollout } from "./Rollout.ts"
import { tryPort } from "./tryPort.ts"

interface Wish extends NonNullable<Rollout["bridged"]> {
  readonly service: string
  readonly name: string
}

const wishesOf = (rollouts: ReadonlyArray<Rollout>, run: string): ReadonlyArray<Wish> =>
  rollouts.flatMap(({ bridged, service }) =>
    bridged === undefined
      ? []
      : [{ ...bridged, service, name: `berth-${service}-bridge-${computeSha256(`${run}\n${service}`).slice(0, 12)}` }]
  )

/** Bridges of one deploy: temporary containers that take the requests while services are recreated. */
export interface Bridging {
  /** Lines of the release's manifest that make an activation start the bridges; empty without bridges. */
  readonly lines: ReadonlyArray<string>
  /** Waits until the bridges are healthy, redirects the requests to them, and then lets the activation continue. */
  readonly lead: (activation: RunningActivation, health: HealthOptions) => Effect.Effect<string, LeadFailure, Needs>
  /**
   * Makes the server undo the activation, including the bridges, if the effect fails or its run is cancelled before the
   * activation continued.
   */
  readonly takenBack: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R | Ssh | Steps>
  /**
   * Redirects the requests back and removes the bridges after an effect, even if it fails. If the service shuts down,
   * its successor does so. Adds a sentence about bridges that could not be removed.
   */
  readonly ledBack: <A, E, R>(
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<readonly [result: A, remark: string], E, R | Needs>
}

type Needs = EditServices | Steps
type LeadFailure = Effect.Effect.Error<ReturnType<ReturnType<typeof leadOf>>>

/** Waits until the bridges are healthy. */
const awaitBridges = (
  server: ServerAccess,
  remotePath: string,
  activation: RunningActivation,
  health: HealthOptions
) =>
  Effect.gen(function*() {
    const { bridges, seen } = yield* activation.bridged
    const services = bridges.map(({ name, service }) => ({ name: service, runs: true, bridge: name }))
    const { complaints, status, unhealthy, waited } = yield* awaitHealth(server, services, seen, health)
    if (status === "healthy") return bridges
    const seconds = Math.ceil(Number(waited) / 1000)
    return yield* new BridgeRefused({
      reason: `the new version was ${status} after ${pluralize(seconds, "second")}: ${complaints}`,
      details: yield* describeUnhealthy(server, remotePath, unhealthy)
    })
  })

/** Fails if the proxy's server cannot connect to a port. */
const checkPort = (address: string, port: number) =>
  Effect.gen(function*() {
    const home = yield* proxyLocation
    const { server } = home
    const code = yield* tryPort(home, address, port)
    if (code === portOpenExit.open) return
    const { first, last } = yield* bridgePorts
    const why = code === portOpenExit.closed
      ? "does not accept connections"
      : `cannot be tried: "${server.name}" has neither nc nor bash nor curl`
    return yield* new BridgeRefused({
      reason: `port ${port} of ${address}, seen from "${server.name}", ${why}. A firewall has to let ` +
        `"${server.name}" connect to the ports ${first} to ${last} (deploy.bridgePorts)`,
      details: ""
    })
  })

/** Records the proxy file on the bridges' server before it is edited. */
const noteFile = (
  server: ServerAccess,
  remotePath: string,
  run: string,
  home: ProxyLocation,
  hosts: ReadonlyArray<string>
) =>
  Effect.gen(function*() {
    const settle = yield* (yield* Settings).get("proxy.settle")
    const settleSeconds = isSame(home.server, server)
      ? Option.some(Math.ceil(Duration.toSeconds(settle)))
      : Option.none()
    const note = noteSwitch(remotePath, run, { ...toNotedProxyFile(home), hosts, settleSeconds }, server.useSudo)
    yield* uncancellable(execute(server, note))
  })

/** Lets the activation continue. If the connection breaks meanwhile, its state is unknown. */
const letGoOn = (server: ServerAccess, remotePath: string, run: string) =>
  Effect.mapError(execute(server, continueActivation(remotePath, run)), (error) =>
    error._tag === "RemoteCommandFailed"
      ? error
      : new DeployFailed({ step: "bridge", reason: error.message, state: stateUnknown }))

const leadOf =
  (server: ServerAccess, remotePath: string, wishes: ReadonlyArray<Wish>, run: string, gone: Ref.Ref<boolean>) =>
  (activation: RunningActivation, health: HealthOptions) =>
    Effect.gen(function*() {
      const bridges = yield* awaitBridges(server, remotePath, activation, health)
      const moves = wishes.flatMap(({ hosts, name, port, service }) => {
        const bridge = bridges.find((each) => each.name === name)
        return bridge === undefined ? [] : [{ hosts, service, from: port, to: bridge.bridgePort }]
      })
      if (moves.length < wishes.length) {
        return yield* new BridgeRefused({ reason: "the server started no bridge", details: "" })
      }
      for (const { hosts, to } of moves) yield* Effect.forEach(hosts, (address) => checkPort(address, to))
      const home = yield* proxyLocation
      const hosts = [...new Set(wishes.flatMap((wish) => wish.hosts))]
      yield* noteFile(server, remotePath, run, home, hosts)
      if (!(yield* moveServersInProxy(addServers, moves))) {
        return yield* new BridgeRefused({
          reason: `${home.file} no longer leads to the service: somebody has edited it since`,
          details: ""
        })
      }
      yield* moveServersInProxy(removeServers, moves)
      yield* uncancellable(Effect.zipRight(Ref.set(gone, true), letGoOn(server, remotePath, run)))
      return moves.map(({ from, service, to }) => `${service}: port ${to} in place of ${from}`).join(", ")
    })

/**
 * Prepares the bridges of one deploy or rollback; does nothing without a bridged service.
 * @param left true if bridges of an earlier run still serve; their requests are redirected to the services that this
 * run starts
 */
export const makeBridging = (
  server: ServerAccess,
  remotePath: string,
  rollouts: ReadonlyArray<Rollout>,
  left: boolean
): Effect.Effect<Bridging, Effect.Effect.Error<typeof bridgePorts>, Settings | Steps> =>
  Effect.gen(function*() {
    const { isCancelled, run } = yield* Steps
    const wishes = wishesOf(rollouts, run)
    const gone = yield* Ref.make(false)
    const { first, last } = yield* bridgePorts
    const stop = Effect.ignore(execute(server, abortActivation(remotePath, run)))
    const mayStop = (isInterrupted: boolean) =>
      Effect.zipWith(Ref.get(gone), isCancelled, (isGone, cancelled) => !isGone && (cancelled || !isInterrupted))
    const none = wishes.length === 0
    return {
      lines: wishes.map(({ address, name, port, service, target }) =>
        ["bridge", service, name, address === "" ? "-" : address, target, port, first, last].join("\t")
      ),
      lead: leadOf(server, remotePath, wishes, run, gone),
      takenBack: (effect) =>
        none ? effect : effect.pipe(
          Effect.onExit((exit) =>
            Exit.isSuccess(exit)
              ? Effect.void
              : uncancellable(Effect.whenEffect(stop, mayStop(Exit.isInterrupted(exit))))
          )
        ),
      ledBack: (effect) =>
        none && !left ? Effect.map(effect, (result) => [result, ""] as const) : Effect.gen(function*() {
          const back = runReturnStep(server, remotePath, none ? undefined : run)
          const exit = yield* Effect.exit(
            Effect.onInterrupt(effect, () => uncancellable(Effect.whenEffect(back, isCancelled)))
          )
          const remark = yield* uncancellable(back)
          return [yield* exit, remark] as const
        })
    }
  })
