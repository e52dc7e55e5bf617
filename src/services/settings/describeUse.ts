import { Array } from "effect"
import type { SettingName } from "../../schema/Settings.ts"
import type { SettingsDocument } from "./settingsDocument.ts"
import { type Entry, isList } from "./settingValue.ts"

const mostNamed = 5
const longestName = 100

const textsOf = (entry: Entry | undefined): ReadonlyArray<string> =>
  entry === undefined ? [] : isList(entry.written) ? entry.written.map(({ text }) => text) : [entry.written.text]

const clause = (verb: string, all: ReadonlyArray<string>): ReadonlyArray<string> => {
  const names = Array.dedupe(all).map((name) => name.slice(0, longestName))
  const more = names.length > mostNamed ? [`${names.length - mostNamed} more`] : []
  return names.length === 0 ? [] : [`${verb} ${[...names.slice(0, mostNamed), ...more].join(", ")}`]
}

/** An address without its user and password. */
const originOf = (text: string) => URL.canParse(text) ? new URL(text).host : text

/** Tells what Berth would do with settings: where it would log in, whom it would ask, and what it would read and run. */
export const describeUse = ({ servers, settings, tokens }: SettingsDocument): ReadonlyArray<string> => {
  const written = (...names: ReadonlyArray<SettingName>) => names.flatMap((name) => textsOf(settings[name]))
  const all = [settings, ...servers.map(({ fields }) => fields), ...tokens.map(({ fields }) => fields)]
    .flatMap((entries) => Object.values(entries)).flatMap(textsOf)
  const keys = servers.flatMap(({ fields }) => textsOf(fields.privateKey))
  const isAgentUsed = servers.some(({ fields }) => textsOf(fields.agent).includes("true"))
  return [
    ...clause(
      "log in to",
      servers.map(({ fields }) => `${textsOf(fields.username).join("")}@${textsOf(fields.host).join("")}`)
    ),
    ...clause("use", isAgentUsed ? ["your SSH agent"] : []),
    ...clause("read", [...keys, ...all.flatMap((text) => text.match(/\$\{(?:env|file):[^{}]*\}/g) ?? [])]),
    ...clause("ask", written("platform.url", "gitHost.url", "state.url").map(originOf)),
    ...clause("run", [...written("editor.command").slice(0, 1), ...written("build.shell").slice(0, 1)]),
    ...clause("find projects in", written("projects.root"))
  ]
}
