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

/** The parts that a line is about; the git host is asked about the platform's applications. */
const partsOf = (line: string): ReadonlyArray<Part> => {
  if (line === "git host") return ["gitHost", "platform"]
  if (line === "proxy file") return ["proxy"]
  const [first = ""] = line.split(".")
  return first === "platform" || first === "gitHost" || first === "proxy" ? [first] : []
}

const isUsed = (part: Part) =>
  Effect.gen(function*() {
    const settings = yield* Settings
    // A setting that cannot be read is one that somebody has written.
    const isSet = (name: SettingName) =>
      Effect.match(settings.find(name), { onFailure: () => true, onSuccess: Option.isSome })
    return yield* Effect.exists(parts[part], isSet)
  })

/** Marks, among the lines that are not well, those about a part that no setting names: nobody has set it up yet. */
export const markNotSetUp = Effect.fn("health.markNotSetUp")(function*(lines: ReadonlyArray<Finding>) {
  const used = { platform: yield* isUsed("platform"), gitHost: yield* isUsed("gitHost"), proxy: yield* isUsed("proxy") }
  return lines.map((line): Finding =>
    line.ok || partsOf(line.name).every((part) => used[part]) ? line : { ...line, setUp: false }
  )
})
