import { Effect, Option } from "effect"
import { Disclosed } from "../../schema/basics/Disclosed.ts"
import type { Finding } from "../../schema/Health.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { makeMissingFinding, makeSetFinding, upsertSettings } from "./checkSettings.ts"

/** Settings that refer to objects of the platform, with the lookup of each. */
const named = {
  "platform.projectUuid": ["project", "projectName"],
  "platform.privateKeyUuid": ["deploy key", "privateKeyName"]
} as const

/** Checks that the platform has the object a setting refers to. Passes if the platform does not answer. */
export const checkNamed = (name: keyof typeof named) =>
  Effect.gen(function*() {
    const settings = yield* Settings
    const uuid = yield* settings.find(name)
    if (Option.isNone(uuid)) return makeMissingFinding(name, settings.file)
    const [what, lookUp] = named[name]
    const found = yield* (yield* Platform)[lookUp](uuid.value)
    return Disclosed.$match(found, {
      Known: ({ value }): Finding => ({
        name,
        ok: true,
        detail: `it is the platform's ${what} ${JSON.stringify(value)}`
      }),
      Hidden: ({ reason }) => ({
        ...makeSetFinding(name),
        detail: `${makeSetFinding(name).detail}. Whether it exists is unknown: ${reason}`
      }),
      Absent: () => ({
        name,
        ok: false,
        detail: `the platform has no ${what} ${JSON.stringify(uuid.value)}`,
        fix: `Set ${name} in ${settings.file} to the uuid of ${upsertSettings[name]}`
      })
    })
  })

/** Checks that the default server for new applications is one of the platform's. */
export const checkDefaultServer = Effect.gen(function*() {
  const name = "platform.defaultServerUuid"
  const settings = yield* Settings
  const found = yield* settings.find(name)
  const fix = `Set ${name} in ${settings.file} to the uuid of one of the platform's servers`
  if (Option.isNone(found)) return { name, ok: false, detail: "it is not set", fix }
  const servers = yield* (yield* Platform).servers
  const server = servers.find(({ uuid }) => uuid === found.value)
  return server === undefined
    ? { name, ok: false, detail: `the platform has no server ${JSON.stringify(found.value)}`, fix }
    : { name, ok: true, detail: `it is the platform's server "${server.name}"` }
})
