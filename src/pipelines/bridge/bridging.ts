import { Data, Duration, Effect, Exit, Option, Ref, Schedule } from "effect"
import {
  abortActivation,
  type BridgeNote,
  continueActivation,
  type NotedProxyFile,
  noteSwitch,
  parseBridgeNote,
  readBridges,
  removeBridges
} from "../../remote/bridge.ts"
import { portOpenCommand, portOpenExit } from "../../remote/server.ts"
import { DeployFailed, type DeployResult } from "../../schema/deploys.ts"
import type { Run } from "../../schema/runs.ts"
import type { RemoteCommandFailed, SshError } from "../../schema/ssh.ts"
import type { Stack } from "../../schema/stacks.ts"
import { pluralize } from "../../schema/words.ts"
import { computeSha256 } from "../../services/bytes.ts"
import { executeStep, Steps, uncancellable } from "../../services/runs/Steps.ts"
import { bridgePorts, scrubSecrets, Settings } from "../../services/settings/Settings.ts"
import { execute, Ssh } from "../../services/ssh/Ssh.ts"
import { type RunningActivation, stateUnknown } from "../activation/activate.ts"
import { awaitHealth, type HealthOptions } from "../activation/health.ts"
import { describeUnhealthy } from "../activation/unhealthy.ts"
import { addServers, hasServer, type PortMove, removeServers } from "../routes/balancers.ts"
import {
  editProxyFile,
  type EditServices,
  type ProxyLocation,
  proxyLocation,
  readProxyText
} from "../routes/proxyFile.ts"
import { BridgeRefused, isSame, type Rollout } from "./rollout.ts"

/** Makes the proxy's server connect to a port; returns an exit code of `portOpenCommand`. */
const tryPort = (
  { server }: Pick<ProxyLocation, "server">,
  address: string,
  port: number
): Effect.Effect<number | null, SshError, Ssh> =>
  Effect.gen(function*() {
    const command = portOpenCommand(address.replace(/^\[(.*)\]$/, "$1"), port)
    const { code } = yield* (yield* Ssh).exec(server, command, { timeout: "12 seconds" })
    return code
  })

/** The requests could not be redirected back, so the bridges keep serving them. */
class BridgeStays extends Data.TaggedError("BridgeStays")<{
  readonly bridges: BridgeNote["bridges"]
  readonly reason: string
}> {
  override get message() {
    const names = this.bridges.map(({ bridgePort, name }) => `${name} on port ${bridgePort}`).join(" and ")
    return `${names} still serves the requests, since they could not be led back: ${this.reason.replace(/\.$/, "")}. ` +
      "The next deploy tries again"
  }
}

/** Location of a proxy file as recorded in a note on a server. */
const toNotedProxyFile = ({ file, server }: ProxyLocation): NotedProxyFile => ({
  file,
  server: `${server.host}:${server.port}`
})

/** Waits until the proxy has reloaded its file. */
const awaitProxyReload = Effect.flatMap(
  Effect.flatMap(Settings, (settings) => settings.get("proxy.settle")),
  Effect.sleep
)

/** Edits the proxy file; after a change, waits until the proxy has reloaded it. */
const moveServersInProxy = (edit: typeof addServers, moves: ReadonlyArray<PortMove>) =>
  Effect.gen(function*() {
    const { _tag } = yield* editProxyFile((text) => edit(text, moves))
    if (_tag === "Edited") yield* awaitProxyReload
    return _tag === "Edited"
  })

// A server that was rebooted starts its containers one after the other.
const startingUp = Schedule.intersect(Schedule.spaced("1 second"), Schedule.recurs(10))

/** Retries for a minute while the file is locked or a server is unreachable. */
const patience = Schedule.intersect(Schedule.spaced("5 seconds"), Schedule.recurs(12))

class PortClosed extends Data.TaggedError("PortClosed") {}

/** A service that gets its requests back, at its own port. */
interface ReturnMove extends PortMove {
  readonly service: string
}

/** True if the proxy's server still cannot connect to a port after a service had time to start. */
const isClosed = (home: ProxyLocation, host: string, port: number) =>
  Effect.flatMap(tryPort(home, host, port), (code) => code === portOpenExit.closed ? new PortClosed() : Effect.void)
    .pipe(
      Effect.retry({ schedule: startingUp, while: ({ _tag }) => _tag === "PortClosed" }),
      Effect.as(false),
      Effect.catchTag("PortClosed", () => Effect.succeed(true))
    )

/** Reason not to redirect the requests of bridges back: the ports of the services do not accept connections. */
const closedPort = (home: ProxyLocation, moves: ReadonlyArray<ReturnMove>) =>
  Effect.gen(function*() {
    const text = yield* readProxyText(home)
    const targets = moves.flatMap(({ from, hosts, service, to }) =>
      hosts.filter((host) => hasServer(text, [host], from)).map((host) => ({ host, service, to }))
    )
    const closed = yield* Effect.findFirst(targets, ({ host, to }) => isClosed(home, host, to))
    return Option.map(closed, ({ host, service, to }) =>
      `port ${to} of ${host}, seen from "${home.server.name}", does not accept connections: the service ${service} has left it`)
  })

/** Redirects the requests of a recorded switch back to the services. */
const restoreNotedRoutes = (
  { bridges }: BridgeNote,
  noted: NotedProxyFile & { readonly hosts: ReadonlyArray<string> }
) =>
  Effect.gen(function*() {
    const stays = (reason: string) => new BridgeStays({ bridges, reason })
    const home = yield* proxyLocation
    const place = toNotedProxyFile(home)
    if (place.file !== noted.file || place.server !== noted.server) {
      return yield* stays(`they were led there in ${noted.file} on ${noted.server}, which is not the proxy file here`)
    }
    const moves = bridges.map(({ bridgePort, port, service }) => ({
      hosts: noted.hosts,
      service,
      from: bridgePort,
      to: port
    }))
    const closed = yield* closedPort(home, moves)
    if (Option.isSome(closed)) return yield* stays(closed.value)
    yield* moveServersInProxy(addServers, moves)
    yield* moveServersInProxy(removeServers, moves)
    const text = yield* readProxyText(home)
    if (moves.some(({ from, hosts }) => hasServer(text, hosts, from))) {
      return yield* stays(`${home.file} still leads to the bridge`)
    }
  })

/** Bridges that were removed after their requests were redirected back. */
type RestoredRoutes = BridgeNote["bridges"]

/**
 * Redirects the requests back from the bridges recorded on a server and removes them, once no activation of the path is
 * running. Idempotent from any intermediate state; does nothing without a record.
 * @param run limits this to the bridges of one run; without it, those of any run
 */
export const restoreRoutes = Effect.fn("bridge.restoreRoutes")(function*(
  stack: Stack,
  run?: string
): Effect.fn.Return<RestoredRoutes, BridgeStays | RemoteCommandFailed | SshError, EditServices> {
  const noted = yield* readNote(stack, run)
  if (Option.isNone(noted)) return []
  const note = noted.value
  if (Option.isSome(note.proxy)) {
    yield* restoreNotedRoutes(note, note.proxy.value).pipe(
      Effect.retry({ schedule: patience, while: (error) => error._tag !== "BridgeStays" }),
      Effect.mapError((error) =>
        error instanceof BridgeStays ? error : new BridgeStays({ bridges: note.bridges, reason: error.message })
      )
    )
  }
  yield* execute(stack.server, removeBridges(stack.remotePath, note.run, stack.server.useSudo), {
    timeout: "10 minutes"
  })
  return note.bridges
})

/** Reads the note about bridges, once no activation of the path is running. */
const readNote = (
  { remotePath, server }: Stack,
  run?: string
): Effect.Effect<Option.Option<BridgeNote>, RemoteCommandFailed | SshError, Ssh> =>
  Effect.map(
    execute(server, readBridges(remotePath), { timeout: "6 minutes" }),
    ({ stdout }) => Option.filter(parseBridgeNote(stdout), (note) => run === undefined || note.run === run)
  )

/** Describes bridges as the outcome of a step. */
const describeRestoredRoutes = (bridges: RestoredRoutes): string =>
  bridges.length === 0 ? "no bridge" : bridges.map(({ port, service }) => `${service} on port ${port}`).join(", ")

// Retries for a minute, since the server may be rebooting.

/**
 * Redirects the requests of a run back in a step of its own, if a bridge is recorded.
 * @param run limits this to the bridges of one run; without it, those of any run
 * @returns a sentence about bridges that could not be removed, with a leading space
 */
const runReturnStep = (stack: Stack, run?: string) =>
  Effect.gen(function*() {
    const noted = yield* Effect.option(Effect.retry(readNote(stack, run), patience))
    if (Option.isSome(noted) && Option.isNone(noted.value)) return ""
    // Idempotent from any intermediate state, so it can be retried after a broken connection.
    const patient = Effect.retry(restoreRoutes(stack, run), {
      schedule: patience,
      while: ({ _tag }) => _tag !== "BridgeStays" && _tag !== "RemoteCommandFailed"
    })
    return yield* executeStep("return", patient, describeRestoredRoutes).pipe(
      Effect.as(""),
      Effect.catchAll(({ message }) => Effect.map(scrubSecrets(message), (words) => ` ${words.replace(/\.$/, "")}.`))
    )
  })

/** Redirects the requests back after an interrupted run is finished, if it had reached the step `bridge`. */
export const restoreRoutesAfter = (stack: Stack, left: Run) => <E, R>(finished: Effect.Effect<DeployResult, E, R>) =>
  left.steps.every((each) => each.step !== "bridge")
    ? finished
    : Effect.gen(function*() {
      const exit = yield* Effect.exit(finished)
      const remark = yield* runReturnStep(stack, left.id)
      const result = yield* exit
      return { ...result, message: result.message + remark }
    })

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
interface Bridging {
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
  stack: Stack,
  activation: RunningActivation,
  health: HealthOptions
) =>
  Effect.gen(function*() {
    const { bridges, seen } = yield* activation.bridged
    const services = bridges.map(({ name, service }) => ({ name: service, runs: true, bridge: name }))
    const { complaints, status, unhealthy, waited } = yield* awaitHealth(stack.server, services, seen, health)
    if (status === "healthy") return bridges
    const seconds = Math.ceil(Number(waited) / 1000)
    return yield* new BridgeRefused({
      reason: `the new version was ${status} after ${pluralize(seconds, "second")}: ${complaints}`,
      details: yield* describeUnhealthy(stack, unhealthy)
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
  { remotePath, server }: Stack,
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
const letGoOn = ({ remotePath, server }: Stack, run: string) =>
  Effect.mapError(execute(server, continueActivation(remotePath, run)), (error) =>
    error._tag === "RemoteCommandFailed"
      ? error
      : new DeployFailed({ step: "bridge", reason: error.message, state: stateUnknown }))

const leadOf =
  (stack: Stack, wishes: ReadonlyArray<Wish>, run: string, gone: Ref.Ref<boolean>) =>
  (activation: RunningActivation, health: HealthOptions) =>
    Effect.gen(function*() {
      const bridges = yield* awaitBridges(stack, activation, health)
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
      yield* noteFile(stack, run, home, hosts)
      if (!(yield* moveServersInProxy(addServers, moves))) {
        return yield* new BridgeRefused({
          reason: `${home.file} no longer leads to the service: somebody has edited it since`,
          details: ""
        })
      }
      yield* moveServersInProxy(removeServers, moves)
      yield* uncancellable(Effect.zipRight(Ref.set(gone, true), letGoOn(stack, run)))
      return moves.map(({ from, service, to }) => `${service}: port ${to} in place of ${from}`).join(", ")
    })

/**
 * Prepares the bridges of one deploy or rollback; does nothing without a bridged service.
 * @param left true if bridges of an earlier run still serve; their requests are redirected to the services that this
 * run starts
 */
export const makeBridging = (
  stack: Stack,
  rollouts: ReadonlyArray<Rollout>,
  left: boolean
): Effect.Effect<Bridging, Effect.Effect.Error<typeof bridgePorts>, Settings | Steps> =>
  Effect.gen(function*() {
    const { isCancelled, run } = yield* Steps
    const wishes = wishesOf(rollouts, run)
    const gone = yield* Ref.make(false)
    const { first, last } = yield* bridgePorts
    const stop = Effect.ignore(execute(stack.server, abortActivation(stack.remotePath, run)))
    const mayStop = (isInterrupted: boolean) =>
      Effect.zipWith(Ref.get(gone), isCancelled, (isGone, cancelled) => !isGone && (cancelled || !isInterrupted))
    const none = wishes.length === 0
    return {
      lines: wishes.map(({ address, name, port, service, target }) =>
        ["bridge", service, name, address === "" ? "-" : address, target, port, first, last].join("\t")
      ),
      lead: leadOf(stack, wishes, run, gone),
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
          const back = runReturnStep(stack, none ? undefined : run)
          const exit = yield* Effect.exit(
            Effect.onInterrupt(effect, () => uncancellable(Effect.whenEffect(back, isCancelled)))
          )
          const remark = yield* uncancellable(back)
          return [yield* exit, remark] as const
        })
    }
  })
