// Fails when a folder below src or test holds more than 20 files of its own: somebody new cannot take in more at a glance.
import { readdirSync } from "node:fs"

const mostFiles = 20

const largeFolders = (folder) => {
  const entries = readdirSync(folder, { withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return [
    ...files.length > mostFiles ? [`${folder} holds ${files.length} files`] : [],
    ...entries.filter((entry) => entry.isDirectory()).flatMap(({ name }) => largeFolders(`${folder}/${name}`))
  ]
}

const roots = process.argv.length > 2 ? process.argv.slice(2) : ["src", "test"]
const large = roots.flatMap(largeFolders)
for (const message of large) console.error(`${message}: sort them into folders, of at most ${mostFiles} files each`)
process.exitCode = large.length === 0 ? 0 : 1
