// Makes each remote script one text that a program can import: `scan.sh` becomes `scan.sh.ts`, with the files that it
// reads in the place where it reads them. Run it after a change to a script (npm run scripts); with --check it only
// names what is stale.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const remote = join(root, "src/remote")
const topics = readdirSync(remote, { withFileTypes: true }).filter((entry) =>
  entry.isDirectory() && entry.name !== "lib"
)
const directories = [join(root, "src/services/ssh/scripts"), ...topics.map(({ name }) => join(remote, name))]

const path = String.raw`"\$\(dirname "\$0"\)/([\w./-]+)"`
const sourced = new RegExp(String.raw`^\. ${path}$`)
const texts = new RegExp(String.raw`^(\w+)=\$\(cat ((?:${path} ?)+)\)$`)
// Prepended by Berth to every script.
const alone = /^command -v as_root /

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`

/** The text of a script without comments and indentation, which would fill the one packet of a command, with `. "$(dirname "$0")/FILE"` and `NAME=$(cat "$(dirname "$0")/FILE")` done. */
const inlined = (program, file = program) =>
  readFileSync(file, "utf8").split("\n").flatMap((line) => {
    const at = (name) => join(dirname(program), name)
    if (/^\s*(#|$)/.test(line) || alone.test(line)) return []
    const source = sourced.exec(line)?.[1]
    if (source !== undefined) return [inlined(program, at(source))]
    const [, name, list] = texts.exec(line) ?? []
    if (name === undefined) return [line.trimStart()]
    const files = [...list.matchAll(new RegExp(path, "g"))].map(([, file]) => inlined(program, at(file)))
    return [`${name}=${quoted(files.join("\n"))}`]
  }).join("\n")

const isCheck = process.argv.includes("--check")
for (const directory of directories) {
  for (const name of readdirSync(directory).filter((entry) => entry.endsWith(".sh"))) {
    const file = join(directory, `${name}.ts`)
    const text = `${inlined(join(directory, name))}\n`.replace(/[\\`]|\$\{/g, "\\$&")
    const wanted = `// Generated from ${name} by "npm run scripts".\nexport const script = \`${text}\`\n`
    if (existsSync(file) && readFileSync(file, "utf8") === wanted) continue
    if (isCheck) process.exitCode = 1
    else writeFileSync(file, wanted)
    console.log(`${isCheck ? "stale" : "wrote"}: ${relative(root, file)}`)
  }
}
