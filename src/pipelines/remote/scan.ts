import { Option } from "effect"
import type { DeployedProject } from "../../schema/Container.ts"
import { composeFileNames } from "../../schema/Project.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script } from "./scripts/scan.sh.ts"

/** How many bytes of each compose file a scan brings along. */
export const composeFileLimit = 256 * 1024

const first = "berth-scan"

/** Looks at every directory of `~/containers` in one command; links, and what may not be read, are left out. */
export const scanCommand: RemoteCommand = {
  what: "scanning ~/containers",
  script,
  args: [String(composeFileLimit), ...composeFileNames],
  sudo: false
}

/** Reads the answer of `scanCommand`; nothing when its beginning is missing because there was too much of it. */
export const parseScan = (output: string): Option.Option<ReadonlyArray<DeployedProject>> => {
  const [head, ...fields] = output.split("\0")
  if (head !== first) return Option.none()
  const projects: Array<DeployedProject> = []
  for (let at = 0; at + 6 <= fields.length; at += 6) {
    const [name = "", compose = "", env = "", data = "", archive = "", text = ""] = fields.slice(at, at + 6)
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
