import { Option } from "effect"
import type { DeployedProject } from "../../schema/Container.ts"
import { composeFileNames } from "../../schema/Project.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"

/** How many bytes of each compose file a scan brings along. */
export const composeFileLimit = 256 * 1024

const first = "berth-scan"

// Six fields a directory, each ended by a NUL: name, compose file, env, data, archive, the compose file's text. Globs
// and quoted expansions only, so that no name is ever read as shell text.
const script = `
LC_ALL=C
export LC_ALL
printf '${first}\\0'
root=$(path_of '~/containers')
[ -e "$root" ] || exit 0
cd "$root" || exit 1
for name in * .[!.]* ..?*; do
  directory=./$name
  case $name in .berth*) continue ;; esac
  [ ! -L "$directory" ] && [ -d "$directory" ] && [ -r "$directory" ] && [ -x "$directory" ] || continue
  compose=
  for file in ${composeFileNames.join(" ")}; do
    if [ -f "$directory/$file" ]; then compose=$file; break; fi
  done
  [ -z "$compose" ] || [ -r "$directory/$compose" ] || continue
  env=
  [ ! -f "$directory/.env" ] || env=yes
  data=
  [ ! -d "$directory/data" ] || data=yes
  archive=
  for file in "$directory"/*.tar; do
    if [ -f "$file" ]; then archive=\${file##*/}; break; fi
  done
  printf '%s\\0' "$name" "$compose" "$env" "$data" "$archive"
  [ -z "$compose" ] || head -c ${composeFileLimit} <"$directory/$compose" | tr -d '\\000'
  printf '\\0'
done
exit 0
`

/** Looks at every directory of `~/containers` in one command; links, and what may not be read, are left out. */
export const scanCommand: RemoteCommand = {
  what: "scanning ~/containers",
  script,
  args: [],
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
