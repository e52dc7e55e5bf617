import { Duration, Effect, Either } from "effect"
import type { SettingName } from "../../../schema/Settings.ts"
import { SettingForbidden, type SettingJson } from "../../../schema/settings/SettingsList.ts"
import { type Caller, CurrentCaller } from "../../access/Caller.ts"
import { hasReference } from "../read/reference.ts"
import type { SettingsDocument } from "../read/settingsDocument.ts"
import { decodeWritten, definitions, isList, makeTextScalar } from "../read/settingValue.ts"

/** New values of settings by their names. */
export type SettingChanges = Readonly<Record<string, SettingJson>>

/**
 * Settings that run programs, grant access or allow paths outside the projects; a token must not widen its own rights.
 */
const ofThisMachine = /^(?:build\.shell|editor\.command|(?:http|mcp|projects|state)\..*)$/

const whatCallersMay = "decides what callers may do on this machine"

/** Another collector would get the headers, which no caller may read. */
const whereTelemetryGoes = "decides where this machine sends telemetry and its headers"

/** Reason why a caller may not change a setting to any value; undefined if it may. */
export const findSettingRefusal = (setting: string, { isLocal }: Caller): string | undefined => {
  if (isLocal === true) return undefined
  if (ofThisMachine.test(setting)) return whatCallersMay
  return setting.startsWith("telemetry.") ? whereTelemetryGoes : undefined
}

/** Secret with its fallbacks in their order, and the settings of the addresses that it is sent to. */
interface Delivery {
  readonly secrets: readonly [SettingName, ...ReadonlyArray<SettingName>]
  readonly addresses: ReadonlyArray<SettingName>
}

/** Every secret that leaves this machine for an address in the settings. */
export const deliveries: ReadonlyArray<Delivery> = [
  { secrets: ["platform.token"], addresses: ["platform.url"] },
  { secrets: ["gitHost.token", "token"], addresses: ["gitHost.url"] },
  // The address of the events is told to the git host with it. Old git hosts send it along with each event.
  { secrets: ["gitHost.webhookSecret"], addresses: ["gitHost.url", "platform.url", "platform.webhookUrl"] },
  { secrets: ["telemetry.headers"], addresses: ["telemetry.otlp"] }
]

const textsOf = ({ settings }: SettingsDocument, name: SettingName): ReadonlyArray<string> => {
  const written = settings[name]?.written
  return written === undefined ? [] : (isList(written) ? written : [written]).map(({ text }) => text)
}

/** Text of a setting; an empty one counts as none. */
const textOf = (document: SettingsDocument, name: SettingName): string | undefined =>
  textsOf(document, name).join("\n") || undefined

/** A secret at an address, both by name and by text as written in the file. */
interface Delivered {
  readonly address: SettingName
  readonly secret: SettingName
  readonly wanted: SettingName
  readonly key: string
}

const listDelivered = (document: SettingsDocument): ReadonlyArray<Delivered> =>
  deliveries.flatMap(({ addresses, secrets }) => {
    const secret = secrets.find((name) => textOf(document, name) !== undefined)
    return secret === undefined ? [] : addresses.flatMap((address) => {
      const to = textOf(document, address)
      const key = JSON.stringify([address, to, secret, textOf(document, secret)])
      return to === undefined ? [] : [{ address, secret, wanted: secrets[0], key }]
    })
  })

const isGiven = (changes: SettingChanges, secret: SettingName) => {
  const value = changes[secret]
  return typeof value === "string" && value !== "" && !hasReference(value)
}

/** Secrets that a change would send to an address that does not have them, unless the change itself gives them. */
const findLeak = (before: SettingsDocument, after: SettingsDocument, changes: SettingChanges) => {
  const had = new Set(listDelivered(before).map(({ key }) => key))
  const leaks = listDelivered(after).filter(({ key, secret }) => !had.has(key) && !isGiven(changes, secret))
  const [first] = leaks
  if (first === undefined) return undefined
  const wanted = new Set(leaks.filter(({ address }) => address === first.address).map((leak) => leak.wanted))
  const isMoved = Object.hasOwn(changes, first.address)
  const where = isMoved ? "another address" : `the address in ${first.address}`
  const what = first.secret === "gitHost.webhookSecret" ? "secret" : "token"
  return {
    setting: isMoved ? first.address : Object.keys(changes).find((name) => name === first.wanted) ?? first.secret,
    reason: `would send the stored ${what} to ${where}, unless the same change gives ${[...wanted].join(" and ")}`
  }
}

const shortestHistory = Duration.days(1)

const erasesHistory = (name: string, value: SettingJson): boolean => {
  if (name !== "runs.keep" || value === null || Array.isArray(value)) return false
  const decoded = decodeWritten(definitions["runs.keep"].decode, makeTextScalar(String(value)))
  return Either.isRight(decoded) && Duration.lessThan(decoded.right, shortestHistory)
}

const findValueRefusal = (before: SettingsDocument, name: string, value: SettingJson): string | undefined => {
  const texts = (Array.isArray(value) ? value : [value]).filter((text) => typeof text === "string")
  const stored: Readonly<Record<string, unknown>> = before.settings
  const standing = Object.hasOwn(stored, name) && isKnown(name) ? textsOf(before, name) : []
  if (texts.some(hasReference) && texts.join("\0") !== standing.join("\0")) return "would be read from this machine"
  return erasesHistory(name, value)
    ? "of less than a day would erase who did what"
    : undefined
}

const isKnown = (name: string): name is SettingName => Object.hasOwn(definitions, name)

/**
 * Refuses a change of settings that the current caller may not make. No caller can read a stored secret, so no caller
 * with a token may have one sent elsewhere, by an address, by a secret or by its fallback. A reference is written only
 * where the file already holds exactly it.
 */
export const permitSettings = (
  before: SettingsDocument,
  after: SettingsDocument,
  changes: SettingChanges
): Effect.Effect<void, SettingForbidden> =>
  Effect.gen(function*() {
    const caller = yield* CurrentCaller
    if (caller.isLocal === true) return
    for (const [setting, value] of Object.entries(changes)) {
      const reason = findSettingRefusal(setting, caller) ?? findValueRefusal(before, setting, value)
      if (reason !== undefined) return yield* new SettingForbidden({ setting, reason })
    }
    const leak = findLeak(before, after, changes)
    if (leak !== undefined) return yield* new SettingForbidden(leak)
  })
