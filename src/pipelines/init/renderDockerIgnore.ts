import { changelogFileName } from "../../schema/applications/Changelog.ts"
import { buildScriptName, shellScriptName } from "../../schema/projects/Build.ts"
import { containerConfigName, platformFileName } from "../../schema/projects/Project.ts"

const archive = "*.tar"
/** Files that never belong in an image: old archives, the server's own data, and files that only Berth reads. */
const ignored = [
  archive,
  ".env",
  "data",
  containerConfigName,
  platformFileName,
  changelogFileName,
  buildScriptName,
  shellScriptName
]

const isIgnored = (path: string): boolean =>
  ignored.some((name) => name === archive ? /^[^/]+\.tar$/.test(path) : path === name || path.startsWith(`${name}/`))

const words = (text: string): ReadonlyArray<string> =>
  text.startsWith("[") ? [...text.matchAll(/"([^"]*)"/g)].map(([, word = ""]) => word) : text.split(/\s+/)

/** Project files that an image build file copies by name. */
const copied = (imageFile: string): ReadonlyArray<string> =>
  imageFile.replace(/\\[ \t]*\r?\n/g, " ").split(/\r?\n/).flatMap((line) => {
    const [, flags = "", rest = ""] = /^(?:copy|add)\s+((?:--\S+\s+)*)(\S[^]*)$/i.exec(line.trim()) ?? []
    return /(^|\s)--from=/.test(flags) ? [] : words(rest).slice(0, -1)
  }).map((path) => path.replace(/^\.?\/+/, "").replace(/(?<!\/)\/+$/, ""))

/** `.dockerignore`: keeps unneeded files out of the image, except those that its build file copies. */
export const renderDockerIgnore = (imageFile: string): string => {
  const wanted = [...new Set(copied(imageFile).filter(isIgnored))]
  return [
    "# What no build of this project may pack into the image:",
    ...ignored,
    ...(wanted.length === 0
      ? []
      : ["# but for what the build file copies by name:", ...wanted.map((path) => `!${path}`)]),
    ""
  ].join("\n")
}
