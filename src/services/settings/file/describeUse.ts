import { Array } from "effect"
import { normalizeJumpList } from "../../../schema/servers/jumpHosts.ts"
import type { SettingName } from "../../../schema/Settings.ts"
import type { SettingsDocument } from "../read/settingsDocument.ts"
import { isList, type LocatedValue } from "../read/settingValue.ts"

const mostNamed = 5
const longestName = 100

const textsOf = (entry: LocatedValue | undefined): ReadonlyArray<string> =>
  entry === undefined ? [] : isList(entry.written) ? entry.written.map(({ text }) => text) : [entry.written.text]

const clause = (verb: string, all: ReadonlyArray<string>): ReadonlyArray<string> => {
  const names = Array.dedupe(all).map((name) => name.slice(0, longestName))
  const more = names.length > mostNamed ? [`${names.length - mostNamed} more`] : []
  return names.length === 0 ? [] : [`${verb} ${[...names.slice(0, mostNamed), ...more].join(", ")}`]
}

/** Host of an address, without its user and password. */
const originOf = (text: string) => URL.canParse(text) ? new URL(text).host : text

/** Describes the effects of settings: log-ins, calls, files that are read and programs that are run. */
export const describeUse = ({ servers, settings, targets, tokens }: SettingsDocument): ReadonlyArray<string> => {
  const written = (...names: ReadonlyArray<SettingName>) => names.flatMap((name) => textsOf(settings[name]))
  const all = [settings, ...[...servers, ...targets, ...tokens].map(({ fields }) => fields)]
    .flatMap((entries) => Object.values(entries)).flatMap(textsOf)
  const keys = servers.flatMap(({ fields }) => textsOf(fields.privateKey))
  const isAgentUsed = servers.some(({ fields }) => textsOf(fields.agent).includes("true"))
  const jumpsOf = ({ fields }: SettingsDocument["servers"][number]) =>
    textsOf(fields.jump).flatMap((text) => normalizeJumpList(text)?.split(",") ?? []).map((jump) => jump.trim())
  // A jump host that is not stored is offered the keys that ssh would offer.
  const clientKeys = servers.flatMap(jumpsOf).length === 0 ? [] : ["your SSH agent", "the keys of ~/.ssh"]
  return [
    ...clause(
      "log in to",
      servers.flatMap((server) => [
        ...jumpsOf(server),
        `${textsOf(server.fields.username).join("")}@${textsOf(server.fields.host).join("")}`
      ])
    ),
    ...clause("use", [...(isAgentUsed ? ["your SSH agent"] : []), ...clientKeys]),
    ...clause("read", [...keys, ...all.flatMap((text) => text.match(/\$\{(?:env|file):[^{}]*\}/g) ?? [])]),
    ...clause("ask", written("platform.url", "gitHost.url", "state.url").map(originOf)),
    ...clause("tell", targets.flatMap(({ fields }) => textsOf(fields.url)).map(originOf)),
    ...clause("send spans and metrics to", written("telemetry.otlp").map(originOf)),
    ...clause("run", [...written("editor.command").slice(0, 1), ...written("build.shell").slice(0, 1)]),
    ...clause("find projects in", written("projects.root"))
  ]
}
