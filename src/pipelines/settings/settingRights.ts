import { Effect } from "effect"
import type { SettingName } from "../../schema/Settings.ts"
import { type SettingJson } from "../../schema/settings/SettingsList.ts"
import { CurrentCaller } from "../../services/access/Caller.ts"
import { mayChange } from "../../services/access/rights.ts"
import { hasReference } from "../../services/settings/read/reference.ts"
import { Settings } from "../../services/settings/Settings.ts"

/**
 * Settings that run programs, grant access or allow paths outside the projects; a token must not widen its own rights.
 */
const ofThisMachine = /^(?:build\.shell|editor\.command|(?:http|mcp|projects|state)\..*)$/

const whatCallersMay = "decides what callers may do on this machine"

/** Another collector would get the headers, which no caller may read. */
const whereTelemetryGoes = "decides where this machine sends telemetry and its headers"

/**
 * Reason why the current caller may not set this value, or any value; undefined if permitted.
 * @param value null to check the setting regardless of its value
 */
export const findSettingRefusal = (setting: string, value: SettingJson) =>
  Effect.map(CurrentCaller, ({ isLocal }): string | undefined => {
    if (isLocal === true) return undefined
    if (ofThisMachine.test(setting)) return whatCallersMay
    if (setting.startsWith("telemetry.")) return whereTelemetryGoes
    const texts = Array.isArray(value) ? value : [value]
    return texts.some((text) => typeof text === "string" && hasReference(text))
      ? "would be read from this machine"
      : undefined
  })

/** Tokens by the setting of the address that they are sent to, each followed by its fallback. */
const tokensByAddress: ReadonlyMap<string, readonly [SettingName, ...ReadonlyArray<SettingName>]> = new Map([
  ["platform.url", ["platform.token"]],
  ["gitHost.url", ["gitHost.token", "token"]]
])

/**
 * Reason why the current caller may not change an address; undefined if permitted. The new address would receive the
 * stored token, which no caller may read, unless the same change replaces the token.
 */
export const findAddressRefusal = (setting: string, changes: Readonly<Record<string, SettingJson>>) =>
  Effect.gen(function*() {
    const tokens = tokensByAddress.get(setting)
    if (tokens === undefined || (yield* CurrentCaller).isLocal === true) return undefined
    const [token] = tokens
    if (changes[setting] === null || typeof changes[token] === "string") return undefined
    const list = yield* (yield* Settings).list
    const isSame = list.some(({ name, value }) => name === setting && value === changes[setting])
    const isStored = list.some(({ name, source }) => tokens.some((each) => each === name) && source !== "none")
    return isStored && !isSame
      ? `would send the stored token to another address, unless the same change gives ${token}`
      : undefined
  })

/** Reason, as a sentence, why the current caller may not change a setting; null if permitted. */
export const findChangeRefusal = (setting: string) =>
  Effect.gen(function*() {
    const { limitedBy, role } = yield* CurrentCaller
    if (!mayChange(role)) {
      return limitedBy === undefined
        ? "A viewer changes nothing"
        : `Agents may only read here: the setting ${limitedBy} is on`
    }
    const reason = yield* findSettingRefusal(setting, null)
    return reason === undefined
      ? null
      : `It ${reason}: change it there with berth settings set ${setting}, or in the file`
  })
