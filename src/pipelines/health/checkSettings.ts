import { Effect, Option } from "effect"
import type { Finding } from "../../schema/Health.ts"
import { freeDisk } from "../../services/local/freeDisk.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { Settings } from "../../services/settings/Settings.ts"

/** Less than this of free disk, in bytes, is a finding. */
export const leastFree = 512 * 1024 * 1024

/** Bytes in words: `1,234 MiB`. */
export const mebibytes = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024).toLocaleString("en-US")} MiB`

/** The settings that an upsert needs and that nothing else would ask for before it, with what each is for. */
export const upsertSettings = {
  "platform.projectUuid": "the project of the platform that new applications are created in",
  "platform.privateKeyUuid": "the deploy key with which the platform reads repositories",
  "gitHost.webhookSecret": "the secret that push events are signed with",
  "proxy.targetIp": "the address that routes lead to"
} as const

/** Whether a setting that upserts need is there; its value is not shown. */
export const checkSetting = (name: keyof typeof upsertSettings) =>
  Effect.gen(function*() {
    const settings = yield* Settings
    const value: Option.Option<unknown> = yield* settings.find(name)
    return Option.isSome(value)
      ? { name, ok: true, detail: `it is set: ${upsertSettings[name]}` }
      : { name, ok: false, detail: "it is not set", fix: `Set ${name} in ${settings.file}: ${upsertSettings[name]}` }
  })

/** Whether the server that applications are created on by default is one of the platform's. */
export const checkDefaultServer = Effect.gen(function*() {
  const name = "platform.defaultServerUuid"
  const settings = yield* Settings
  const found = yield* settings.find(name)
  const fix = `Set ${name} in ${settings.file} to a uuid that GET /api/platform/servers lists`
  if (Option.isNone(found)) return { name, ok: false, detail: "it is not set", fix }
  const servers = yield* (yield* Platform).servers
  const server = servers.find(({ uuid }) => uuid === found.value)
  return server === undefined
    ? { name, ok: false, detail: `the platform has no server ${JSON.stringify(found.value)}`, fix }
    : { name, ok: true, detail: `it is the platform's server "${server.name}"` }
})

/** Whether this machine has room for archives and settings. */
export const checkDisk = Effect.gen(function*() {
  const name = "free disk"
  const root = yield* (yield* Settings).get("projects.root")
  const free = yield* freeDisk(root)
  const detail = `${mebibytes(free)} free on this machine at ${root}`
  const found: Finding = free < leastFree
    ? { name, ok: false, detail, fix: "Free disk space on this machine: old image archives are the first to go" }
    : { name, ok: true, detail }
  return found
})
