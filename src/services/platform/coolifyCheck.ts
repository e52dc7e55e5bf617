import { Array, Effect, Option, Order } from "effect"
import type { AppEnv, PlatformRecord } from "../../schema/applications/PlatformApp.ts"
import { Disclosed } from "../../schema/basics/Disclosed.ts"
import type { Finding } from "../../schema/Health.ts"
import { pluralize } from "../../schema/words/pluralize.ts"

type Version = readonly [number, number, number]
const versions = Order.tuple(Order.number, Order.number, Order.number)

/** Parses `v4.1.1` or `4.1.1-beta.3` into numbers. */
const parseVersion = (text: string): Option.Option<Version> => {
  const [, major, minor, patch] = /(?<!\d)(\d+)\.(\d+)\.(\d+)/.exec(text) ?? []
  return major === undefined ? Option.none() : Option.some([Number(major), Number(minor), Number(patch)])
}

const faults: ReadonlyArray<{ readonly from: Version; readonly mended: Version; readonly what: string }> = [{
  from: [4, 1, 1],
  mended: [4, 1, 2],
  what: "repository addresses with an SSH port of their own are mishandled"
}]

/** Makes the finding for a version of Coolify. */
export const checkVersion = (text: string): Finding => {
  const name = "platform version"
  const version = parseVersion(text)
  if (Option.isNone(version)) return { name, ok: true, detail: `Coolify, version ${text.slice(0, 40)}` }
  const number = version.value.join(".")
  const fault = faults.find(({ from, mended }) =>
    Order.between(versions)(version.value, { minimum: from, maximum: from }) ||
    (Order.greaterThan(versions)(version.value, from) && Order.lessThan(versions)(version.value, mended))
  )
  return fault === undefined
    ? { name, ok: true, detail: `Coolify ${number}` }
    : {
      name,
      ok: false,
      detail: `Coolify ${number}: ${fault.what}`,
      fix: `Update Coolify to ${fault.mended.join(".")}`
    }
}

/** Makes the finding for the token's abilities, derived from the variables of an application. */
export const checkToken = (
  apps: ReadonlyArray<PlatformRecord>,
  envs: ReadonlyArray<AppEnv>
): Finding => {
  const name = "platform token"
  const reads = `it may read ${pluralize(apps.length, "application")}`
  const hidden = Array.findFirst(envs, ({ value }) => Disclosed.$is("Hidden")(value))
  if (Option.isSome(hidden)) {
    return {
      name,
      ok: false,
      detail: `${reads}, and no values of variables or secrets`,
      fix: "Give the token the ability read:sensitive in Coolify, under Keys & Tokens"
    }
  }
  return envs.length === 0
    ? { name, ok: true, detail: `${reads}; whether it may read values shows once there is a variable` }
    : { name, ok: true, detail: `${reads} and the values of their variables` }
}

/** Checks Coolify's version and the token's abilities. Read-only. */
export const checkCoolify = <E, R, E2, R2, E3, R3>(
  version: Effect.Effect<string, E, R>,
  applications: Effect.Effect<ReadonlyArray<PlatformRecord>, E2, R2>,
  envs: (uuid: string) => Effect.Effect<ReadonlyArray<AppEnv>, E3, R3>
) =>
  Effect.gen(function*() {
    const [text, apps] = yield* Effect.all([version, applications], { concurrency: 2 })
    // A sample suffices.
    const few = apps.filter(({ uuid }) => uuid !== "").slice(0, 5)
    const variables = yield* Effect.forEach(few, ({ uuid }) => envs(uuid), { concurrency: 5 })
    return [checkVersion(text), checkToken(apps, variables.flat())]
  })
