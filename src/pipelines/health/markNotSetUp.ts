import { Effect, Option } from "effect"
import type { Finding } from "../../schema/Health.ts"
import type { SettingName } from "../../schema/Settings.ts"
import { Settings } from "../../services/settings/Settings.ts"

/** Optional parts, with the settings that enable each. */
const parts = {
  platform: [
    "platform.url",
    "platform.token",
    "platform.projectUuid",
    "platform.defaultServerUuid",
    "platform.privateKeyUuid"
  ],
  gitHost: ["gitHost.url", "gitHost.token", "gitHost.sshHost", "gitHost.owner", "gitHost.webhookSecret"],
  proxy: ["proxy.configFile", "proxy.server", "proxy.targetIp"]
} as const satisfies Record<string, ReadonlyArray<SettingName>>

type Part = keyof typeof parts

/** Parts that a finding is about; the git host check also needs the platform's applications. */
const partsOf = (line: string): ReadonlyArray<Part> => {
  if (line === "git host") return ["gitHost", "platform"]
  if (line === "proxy file") return ["proxy"]
  const [first = ""] = line.split(".")
  return first === "platform" || first === "gitHost" || first === "proxy" ? [first] : []
}

const isUsed = (part: Part) =>
  Effect.gen(function*() {
    const settings = yield* Settings
    // A setting that cannot be read has been set.
    const isSet = (name: SettingName) =>
      Effect.match(settings.find(name), { onFailure: () => true, onSuccess: Option.isSome })
    return yield* Effect.exists(parts[part], isSet)
  })

/** Marks failed findings about a part without any setting as not set up. */
export const markNotSetUp = Effect.fn("health.markNotSetUp")(function*(lines: ReadonlyArray<Finding>) {
  const used = { platform: yield* isUsed("platform"), gitHost: yield* isUsed("gitHost"), proxy: yield* isUsed("proxy") }
  return lines.map((line): Finding =>
    line.ok || partsOf(line.name).every((part) => used[part]) ? line : { ...line, setUp: false }
  )
})
