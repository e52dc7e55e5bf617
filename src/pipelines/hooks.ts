import type { Path } from "@effect/platform"
import { Clock, Data, Duration, Effect, Either, Option } from "effect"
import { abortActivation } from "../remote/bridge.ts"
import type { DeployHooks, HookName, PlannedHook } from "../schema/deploys.ts"
import type { ServerAccess } from "../schema/ssh.ts"
import type { Stack } from "../schema/stacks.ts"
import { pluralize } from "../schema/words.ts"
import { computeSha256 } from "../services/bytes.ts"
import type { LocalFiles } from "../services/local/LocalFiles.ts"
import { LocalProcesses } from "../services/local/LocalProcesses.ts"
import { emitOutput } from "../services/runs/output.ts"
import { executeStep, Steps, uncancellable } from "../services/runs/Steps.ts"
import { scrubSecrets, type Settings } from "../services/settings/Settings.ts"
import { execute, type Ssh } from "../services/ssh/Ssh.ts"
import type { StackHealth } from "./activation/health.ts"
import { requireTrustedHook } from "./projects/trust.ts"

const defaultTimeout = Duration.minutes(10)

/** Command of a hook in a container of the new version. */
interface StartHook {
  readonly service: string
  readonly command: ReadonlyArray<string>
}

/** Commands around one deploy. */
export interface Hooks {
  readonly beforeDeploy: ReadonlyArray<ReadonlyArray<string>>
  readonly beforeStart: Option.Option<StartHook>
  readonly afterDeploy: ReadonlyArray<ReadonlyArray<string>>
  /** Time limit of each command. */
  readonly timeout: Duration.Duration
}

/** A command of a hook failed. */
class HookFailed extends Data.TaggedError("HookFailed")<{ readonly reason: string }> {
  override get message() {
    return this.reason
  }
}

/** Hooks that `container.json` declares; undefined if it has no command. */
export const toHooks = (declared: DeployHooks | null | undefined): Hooks | undefined => {
  const hooks: Hooks = {
    beforeDeploy: declared?.beforeDeploy ?? [],
    beforeStart: Option.fromNullable(declared?.beforeStart),
    afterDeploy: declared?.afterDeploy ?? [],
    timeout: declared?.timeout ?? defaultTimeout
  }
  const { afterDeploy, beforeDeploy, beforeStart } = hooks
  return beforeDeploy.length + afterDeploy.length === 0 && Option.isNone(beforeStart) ? undefined : hooks
}

/** Commands in their order, as a plan lists them and its hash covers them. */
export const listPlannedHooks = ({ afterDeploy, beforeDeploy, beforeStart }: Hooks): ReadonlyArray<PlannedHook> => [
  ...beforeDeploy.map((command): PlannedHook => ({ when: "beforeDeploy", command })),
  ...Option.toArray(beforeStart).map((hook): PlannedHook => ({ when: "beforeStart", ...hook })),
  ...afterDeploy.map((command): PlannedHook => ({ when: "afterDeploy", command }))
]

const keptOutput = 16 * 1024
const shownLines = 3

/** Deploy that a hook belongs to. */
interface HookedDeploy {
  readonly server: Pick<ServerAccess, "name">
  readonly directory: string
  readonly remotePath: string
  readonly environment?: string | undefined
}

const variablesOf = ({ directory, environment, remotePath, server }: HookedDeploy, hook: HookName, run: string) => ({
  BERTH_HOOK: hook,
  BERTH_PROJECT: directory.split(/[/\\]/).at(-1) ?? directory,
  BERTH_REMOTE_PATH: remotePath,
  BERTH_RUN: run,
  BERTH_SERVER: server.name,
  ...environment === undefined ? {} : { BERTH_ENVIRONMENT: environment }
})

const lastLines = (output: string): string => output.trim().split("\n").slice(-shownLines).join("\n")

/**
 * Runs the commands of a hook on this machine one after the other, in the project's directory; fails with the first
 * failure. A caller with a token runs only what is trusted at that moment. Their output is added to the run's. Interruption kills the process group of the running command.
 * @param more further variables
 */
export const runLocalHook = Effect.fn("hooks.runLocal")(function*(
  deploy: HookedDeploy,
  hook: HookName,
  commands: ReadonlyArray<ReadonlyArray<string>>,
  timeout: Duration.Duration,
  more: Readonly<Record<string, string>> = {}
): Effect.fn.Return<string, HookFailed, LocalFiles | LocalProcesses | Path.Path | Settings | Steps> {
  const processes = yield* LocalProcesses
  const { run } = yield* Steps
  const variables = { ...variablesOf(deploy, hook, run), ...more }
  for (const [index, command] of commands.entries()) {
    const [program = "", ...args] = command
    yield* requireTrustedHook(deploy.directory, hook, index, command).pipe(
      Effect.mapError((error) =>
        new HookFailed({
          reason: error._tag === "ProjectNotTrusted"
            ? `${error.untrusted}, and was not run: have it trusted on the service's machine with berth trust PROJECT`
            : error.message
        })
      )
    )
    const lines = yield* emitOutput("stdout")
    const exit = yield* processes.run(
      { program, args, cwd: deploy.directory, timeout, maxOutput: keptOutput, variables },
      lines.emit
    ).pipe(Effect.mapError(({ message }) => new HookFailed({ reason: message })))
    yield* lines.end
    if (exit.exitCode === 0 && !exit.timedOut) continue
    const why = exit.timedOut
      ? `was stopped after ${Duration.format(timeout)} (hooks.timeout in container.json)`
      : `ended with ${exit.exitCode === null ? "a signal" : `exit code ${exit.exitCode}`}`
    const words = yield* scrubSecrets(lastLines(exit.output), { cut: exit.output.length > keptOutput - 4 })
    return yield* new HookFailed({ reason: `${program} ${why}${words === "" ? "" : `: ${words}`}` })
  }
  return pluralize(commands.length, "command")
})

/**
 * Runs the hook after a deploy whose stack is healthy. If it fails, the new version counts as unhealthy, and
 * `onUnhealthy` applies.
 * @param release id of the new version, if the server recorded it
 */
export const runAfterDeploy = (
  deploy: HookedDeploy,
  hooks: Hooks | undefined,
  health: StackHealth,
  release: Option.Option<string>
) =>
  Effect.gen(function*() {
    if (hooks === undefined || hooks.afterDeploy.length === 0 || health.status !== "healthy") return health
    const variables = Option.match(release, { onNone: () => ({}), onSome: (id) => ({ BERTH_RELEASE: id }) })
    const since = yield* Clock.currentTimeMillis
    const outcome = yield* Effect.either(executeStep(
      "afterDeploy",
      runLocalHook(deploy, "afterDeploy", hooks.afterDeploy, hooks.timeout, variables),
      (detail) => detail
    ))
    if (Either.isRight(outcome)) return health
    const failed: StackHealth = {
      status: "unhealthy",
      complaints: `the hook afterDeploy failed: ${outcome.left.reason}`,
      unhealthy: [],
      waited: Duration.millis((yield* Clock.currentTimeMillis) - since)
    }
    return failed
  })

/**
 * Lines of a release's manifest that make an activation run the hook before it starts the stack; empty without a hook.
 */
export const buildStartHookLines = (hooks: Hooks | undefined, run: string): ReadonlyArray<string> =>
  Option.match(hooks?.beforeStart ?? Option.none(), {
    onNone: () => [],
    onSome: ({ command, service }) => {
      const name = `berth-${service}-run-${computeSha256(`${run}\n${service}`).slice(0, 12)}`
      const seconds = Math.ceil(Duration.toSeconds(hooks?.timeout ?? Duration.zero))
      // The prefix keeps an empty argument as a line.
      return [`hook\t${service}\t${name}\t${seconds}`, ...command.map((argument) => `argument\tx${argument}`)]
    }
  })

/**
 * Makes the server stop the hook, or not start it, and undo the activation if the run is cancelled; after a build of images,
 * too.
 * @param lines lines of the hook and of builds in the release's manifest; without any, there is nothing to stop
 */
export const stopWhenCancelled =
  ({ remotePath, server }: Stack, lines: ReadonlyArray<string>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Ssh | Steps> =>
    lines.length === 0 ? effect : Effect.flatMap(
      Steps,
      ({ isCancelled, run }) =>
        Effect.onInterrupt(
          effect,
          () =>
            uncancellable(
              Effect.whenEffect(Effect.ignore(execute(server, abortActivation(remotePath, run))), isCancelled)
            )
        )
    )
