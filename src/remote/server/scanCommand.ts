import { Option } from "effect"
import { composeFileNames } from "../../schema/projects/Project.ts"
import type { DeployedProject } from "../../schema/servers/Container.ts"
import { type AnswerLimit, mebibyte } from "../../services/ssh/AnswerLimit.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script } from "./scan.sh.ts"

/** Maximum bytes of each compose file in a scan. */
export const composeFileLimit = 256 * 1024

/** Maximum number of directories of a server in a scan. */
const mostDirectories = 10_000

const first = "berth-scan"
const fieldsEach = 6

const scanLimit: AnswerLimit = {
  bytes: 16 * mebibyte,
  records: fieldsEach * mostDirectories + 1,
  separator: "\0",
  words: "10,000 directories",
  help: "Move directories that are not stacks out of ~/containers"
}

/** Inspects every directory of `~/containers` in one command; skips links and unreadable ones. */
export const scanCommand: RemoteCommand = {
  what: "scanning ~/containers",
  script,
  args: [String(composeFileLimit), ...composeFileNames],
  sudo: false,
  limit: scanLimit
}

/** Parses the answer of `scanCommand`; none if it does not start as expected. */
export const parseScan = (output: string): Option.Option<ReadonlyArray<DeployedProject>> => {
  const [head, ...fields] = output.split("\0")
  if (head !== first) return Option.none()
  const projects: Array<DeployedProject> = []
  for (let at = 0; at + fieldsEach <= fields.length; at += fieldsEach) {
    const [name = "", compose = "", env = "", data = "", archive = "", text = ""] = fields.slice(at, at + fieldsEach)
    // Not a valid name of a directory entry; it would lead out of ~/containers.
    if (name === "" || name === "." || name === ".." || name.includes("/")) continue
    projects.push({
      name,
      remotePath: `~/containers/${name}`,
      hasComposeFile: compose !== "",
      hasEnv: env !== "",
      hasData: data !== "",
      tarFile: archive === "" ? null : archive,
      composeFileContent: compose === "" ? null : text
    })
  }
  return Option.some(projects)
}
