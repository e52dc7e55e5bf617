import { Effect, Option } from "effect"
import { Settings } from "../../services/settings/Settings.ts"

/** Settings that only an upsert needs, with their purposes. */
export const upsertSettings = {
  "platform.projectUuid": "the project of the platform that new applications are created in",
  "platform.privateKeyUuid": "the deploy key with which the platform reads repositories",
  "gitHost.webhookSecret": "the secret that push events are signed with",
  "proxy.targetIp": "the address that routes lead to"
} as const

/** Passed check of a setting. */
export const makeSetFinding = (name: keyof typeof upsertSettings) => ({
  name,
  ok: true,
  detail: `it is set: ${upsertSettings[name]}`
})
/** Failed check of a missing setting. */
export const makeMissingFinding = (name: keyof typeof upsertSettings, file: string) => ({
  name,
  ok: false,
  detail: "it is not set",
  fix: `Set ${name} in ${file}: ${upsertSettings[name]}`
})

/** Checks that a setting which upserts need exists; never reveals its value. */
export const checkSetting = (name: "gitHost.webhookSecret" | "proxy.targetIp") =>
  Effect.gen(function*() {
    const settings = yield* Settings
    const value: Option.Option<unknown> = yield* settings.find(name)
    return Option.isSome(value) ? makeSetFinding(name) : makeMissingFinding(name, settings.file)
  })
