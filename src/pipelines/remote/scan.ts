import { Option } from "effect"
import type { DeployedProject } from "../../schema/Container.ts"
import { composeFileNames } from "../../schema/Project.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script } from "./scripts/scan.sh.ts"

/** How many bytes of each compose file a scan brings along. */
export const composeFileLimit = 256 * 1024

/** How many directories of a server are told. */
const mostDirectories = 10_000

const first = "berth-scan"
const fieldsEach = 6

/** Looks at every directory of `~/containers` in one command; links, and what may not be read, are left out. */
export const scanCommand: RemoteCommand = {
  what: "scanning ~/containers",
  script,
  args: [String(composeFileLimit), ...composeFileNames],
  sudo: false
}

/** Reads the answer of `scanCommand`; nothing when there is too much of it, or its beginning is missing for that reason. */
export const parseScan = (output: string): Option.Option<ReadonlyArray<DeployedProject>> => {
  const parts = output.split("\0", fieldsEach * (mostDirectories + 1) + 1)
  if (parts[0] !== first || parts.length > fieldsEach * mostDirectories + 2) return Option.none()
  const fields = parts.slice(1)
  const projects: Array<DeployedProject> = []
  for (let at = 0; at + fieldsEach <= fields.length; at += fieldsEach) {
    const [name = "", compose = "", env = "", data = "", archive = "", text = ""] = fields.slice(at, at + fieldsEach)
    // A directory's entry has no other names: this would lead out of ~/containers.
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
