import { Data, Effect, Either, Option, Predicate } from "effect"
import { type AppEnv, Disclosed, type PlatformFailure } from "../../schema/applications.ts"
import { declaredFields, hostPortKey } from "../../schema/declaredFields.ts"
import { type Change, PortHidden } from "../../schema/upsert.ts"
import { quoteInput } from "../../schema/words.ts"
import { Platform } from "../../services/platform/Platform.ts"
import type { SettingsError } from "../../services/settings/Settings.ts"
import { findHostPort, namesPort } from "../applications/applications.ts"
import type { Fact } from "../planHash.ts"
import {
  decideWill,
  describe,
  describeEarlierChange,
  describeStop,
  makeStep,
  noChange,
  type Seen,
  StoredChange,
  type Synced,
  unreadable
} from "./step.ts"

/** Action on an application's port. `old` is null if the variable has no value. */
export type HostPortAction = Data.TaggedEnum<{
  Keep: {}
  Create: {}
  Change: { readonly env: AppEnv; readonly old: string | null }
  /** The value is hidden and must not be overwritten blindly. */
  Stop: { readonly reason: string }
}>
export const HostPortAction = Data.taggedEnum<HostPortAction>()

/** Decides how to set the port variable to `port`. */
export const decideHostPortAction = (envs: ReadonlyArray<AppEnv>, port: number): HostPortAction =>
  Option.match(findHostPort(envs), {
    onNone: () => HostPortAction.Create(),
    onSome: (env) =>
      Disclosed.$match(env.value, {
        Known: ({ value }) =>
          namesPort(value, port) ? HostPortAction.Keep() : HostPortAction.Change({ env, old: value }),
        Absent: () => HostPortAction.Change({ env, old: null }),
        Hidden: ({ reason }) => HostPortAction.Stop({ reason })
      })
  })

/** Change of the port by an action, if any. */
export const buildHostPortChange = (action: HostPortAction, port: number): Option.Option<Change> => {
  const changed = (old: string | null) =>
    Option.some({ field: hostPortKey, label: declaredFields.port.label, old, new: String(port) })
  return HostPortAction.$match(action, {
    Keep: () => Option.none(),
    Create: () => changed(null),
    Change: ({ old }) => changed(old),
    Stop: () => Option.none()
  })
}

/** Variables of an application, or the failure to read them, with the port's action. */
interface PortDecision {
  readonly envs: Either.Either<ReadonlyArray<AppEnv>, PlatformFailure | SettingsError>
  readonly action: HostPortAction
}

/** Reads an application's variables; a new application has none. */
const readEnvs = (uuid: Option.Option<string>) =>
  Option.match(uuid, {
    onNone: () => Effect.succeed(Either.right<ReadonlyArray<AppEnv>>([])),
    onSome: (id) => Effect.flatMap(Platform, (platform) => Effect.either(platform.envs(id)))
  })

/**
 * Reads an application's variables and decides upsert step 6; unreadable variables count as absent.
 * @param uuid none for a new application, which has no variables
 */
const decideHostPort = Effect.fn("decideHostPort")(function*(
  uuid: Option.Option<string>,
  port: number
): Effect.fn.Return<PortDecision, never, Platform> {
  const envs = yield* readEnvs(uuid)
  return { envs, action: decideHostPortAction(Either.getOrElse(envs, () => []), port) }
})

/** The shared variable that a variable takes its value from, in parentheses; empty for a value of its own. */
const nameShared = ({ record: { value } }: AppEnv, old: string | null) =>
  Predicate.isString(value) && value !== old && value.includes("{{") ? ` (${value})` : ""

/**
 * Describes an action: `set HOST_PORT to 3000` for comparison with a plan, `sets HOST_PORT to 3000` within one.
 * @param ending of its verb
 */
const describeAction = (action: HostPortAction, port: number, ending: "" | "s" = ""): string =>
  HostPortAction.$match(action, {
    Keep: () => noChange,
    Create: () => `set${ending} ${hostPortKey} to ${port}`,
    Change: ({ env, old }) =>
      `change${ending} ${hostPortKey} from ${old ?? "no value"}${nameShared(env, old)} to ${port}`,
    Stop: () => `stop${ending} at ${hostPortKey}`
  })

const describeUnchanged = (port: number) => `${hostPortKey} is ${port} already`
const noPort = "no port"

const factOf = (envs: ReadonlyArray<AppEnv>): Fact =>
  Option.match(findHostPort(envs), {
    onNone: () => ({ value: null, now: "not set" }),
    onSome: (env) =>
      Disclosed.$match(env.value, {
        Known: ({ value }) => ({ value: [value], now: quoteInput(value) }),
        Absent: () => ({ value: [], now: "without a value" }),
        Hidden: () => ({ value: "hidden", now: "hidden" })
      })
  })

/** Plans the step; a new application has no variables yet. */
const planHostPort = Effect.fn("planHostPort")(function*({ app, plan }: Seen) {
  const uuid = Option.map(app, ({ uuid }) => uuid)
  if (Option.isNone(plan.port)) {
    const envs = Either.getRight(yield* readEnvs(uuid))
    return { part: describe({ will: "nothing", detail: noPort }), envs }
  }
  const port = plan.port.value
  const decision = yield* decideHostPort(uuid, port)
  const { action, envs } = decision
  const change = Option.toArray(buildHostPortChange(action, port))
  const changes = change.map((one) => ({ target: "variable" as const, ...one }))
  const facts = { hostPort: Either.match(envs, { onLeft: () => unreadable, onRight: factOf }) }
  const unknown = Either.match(envs, {
    onLeft: ({ message }) => [`${hostPortKey}: the variables could not be read: ${message}`],
    onRight: () => []
  })
  const planned = (detail: string, writes: ReadonlyArray<string>) =>
    describe({ will: decideWill(changes), detail, changes, writes, unknown, facts })
  return {
    changes: change,
    envs: Either.getRight(envs),
    // A new application's variables can be read only once it exists.
    decision: Option.as(uuid, decision),
    words: Option.as(uuid, describeAction(action, port)),
    part: HostPortAction.$match(action, {
      Keep: () => planned(describeUnchanged(port), []),
      Create: () => planned(describeAction(action, port, "s"), ["createEnv"]),
      Change: () => planned(describeAction(action, port, "s"), ["updateEnv"]),
      Stop: ({ reason }) =>
        describeStop(new PortHidden({ reason }).message, { unknown: [`${hostPortKey}: ${reason}`], facts })
    })
  }
})

const replace = (uuid: string, env: AppEnv, port: number) =>
  Effect.gen(function*() {
    const platform = yield* Platform
    return yield* platform.updateEnv(uuid, env, String(port)).pipe(
      Effect.as("changed"),
      Effect.orElse(() =>
        platform.deleteEnv(uuid, env).pipe(
          Effect.zipRight(platform.createEnv(uuid, hostPortKey, String(port))),
          Effect.as("created again")
        )
      )
    )
  })

/** Executes an action, and describes it. */
const setHostPort = ({ action, envs }: PortDecision, uuid: string, port: number, change: Option.Option<Change>) =>
  Effect.gen(function*() {
    const platform = yield* Platform
    return yield* HostPortAction.$match(action, {
      Keep: () =>
        Effect.succeed(Option.match(change, {
          onNone: () => describeUnchanged(port),
          onSome: describeEarlierChange
        })),
      Create: () =>
        Effect.map(platform.createEnv(uuid, hostPortKey, String(port)), () => {
          const doubt = envs._tag === "Right" ? "" : `; the variables could not be read: ${envs.left.message}`
          return `${hostPortKey} set to ${port}${doubt}`
        }),
      Change: ({ env, old }) =>
        Effect.map(replace(uuid, env, port), (how) => `${hostPortKey} ${how}: ${old ?? "no value"} is now ${port}`),
      Stop: ({ reason }) => new PortHidden({ reason })
    })
  })

/** Upsert step 6: sets the application's port. */
export const hostPortStep = makeStep("env", {
  plan: planHostPort,
  apply: (state: Synced, { decision: planned, intent, matches, stage }) =>
    stage(
      StoredChange,
      Effect.fn("applyHostPort")(function*() {
        if (Option.isNone(state.plan.port)) return { detail: noPort, change: Option.none<Change>() }
        const port = state.plan.port.value
        const decision = Option.isSome(planned)
          ? planned.value
          : yield* decideHostPort(Option.some(state.uuid), port)
        yield* matches(describeAction(decision.action, port))
        const change = yield* intent(buildHostPortChange(decision.action, port))
        return { detail: yield* setHostPort(decision, state.uuid, port, change), change }
      }),
      ({ detail }) => detail
    ).pipe(
      Effect.map(({ change }): Synced => ({ ...state, changes: [...state.changes, ...Option.toArray(change)] }))
    )
})
