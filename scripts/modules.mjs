// Holds the modules of src to the house rules: at most 480 lines, no export without a user, and few files that exist
// for one neighbour alone. Files that are loaded on first use do not count among these.
import { readdirSync, readFileSync } from "node:fs"
import { posix } from "node:path"
import ts from "typescript"

const mostLines = 480
const mostPrivateFiles = 40

const filesIn = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return filesIn(path)
    return /\.(tsx?|mjs)$/.test(entry.name) ? [path] : []
  })

const [root = "."] = process.argv.slice(2)
process.chdir(root)
const folders = ["src", "test", "bench", "examples", "scripts"].filter((name) => readdirSync(".").includes(name))
/** A file that lists the modules of its folder, one a resource. */
const mostListed = 12
/** Types that the inferred type of another file's export names, so that its declaration has to find them. */
const namedByDeclarations = [
  "src/cli/parse.ts DescribedArgument",
  "src/cli/parse.ts DescribedOption",
  "src/pipelines/upsert/step.ts UpsertStep",
  "src/sandbox/records.ts Deployment",
  "src/services/settings/Settings.ts SettingsFile"
]
const isModule = (file) => file.startsWith("src/") && !file.endsWith(".sh.ts")

/** Names that a file exports, and the names it uses of other files; "*" stands for each that the file has as a word. */
const readFile = (file) => {
  const text = readFileSync(file, "utf8")
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true)
  const exported = new Set()
  const used = []
  const words = new Set()
  const resolve = (specifier) => posix.join(posix.dirname(file), specifier)
  const isExported = (node) => node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
  const addName = (name) =>
    ts.isIdentifier(name) ? exported.add(name.text) : name.elements.forEach((each) => addName(each.name))
  const visit = (node) => {
    if (ts.isIdentifier(node)) words.add(node.text)
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier?.text.startsWith(".")) {
      const bindings = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause
      const isWhole = ts.isExportDeclaration(node) && bindings === undefined
      const names = bindings?.elements?.map(({ name, propertyName }) => (propertyName ?? name).text) ??
        [isWhole ? "all" : "*"]
      used.push({ file: resolve(node.moduleSpecifier.text), names, isLazy: false })
    }
    const target = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
      ? node.arguments[0]
      : ts.isImportTypeNode(node)
      ? node.argument.literal
      : undefined
    if (target?.text?.startsWith(".")) used.push({ file: resolve(target.text), names: ["*"], isLazy: true })
    ts.forEachChild(node, visit)
  }
  visit(source)
  for (const statement of source.statements) {
    if (!isExported(statement)) continue
    if (ts.isVariableStatement(statement)) statement.declarationList.declarations.forEach(({ name }) => addName(name))
    else if (statement.name !== undefined) addName(statement.name)
  }
  return { exported, used, words, lines: text.split("\n").length - 1 }
}

const files = new Map(folders.flatMap(filesIn).map((file) => [file, readFile(file)]))
const users = new Map()
for (const [from, { used }] of files) {
  for (const use of used) {
    if (!users.has(use.file)) users.set(use.file, [])
    users.get(use.file).push({ ...use, from })
  }
}

const countSiblings = (file) =>
  new Set(files.get(file).used.map((use) => use.file).filter((each) => posix.dirname(each) === posix.dirname(file)))
    .size

const problems = []
const lonely = []
for (const [file, { exported, lines }] of files) {
  if (!isModule(file)) continue
  if (lines > mostLines) problems.push(`${file} has ${lines} lines: at most ${mostLines}`)
  const uses = users.get(file) ?? []
  const names = new Set(uses.flatMap((use) => use.names.includes("*") ? [...files.get(use.from).words] : use.names))
  if (!names.has("all")) {
    for (const name of exported) {
      if (names.has(name) || namedByDeclarations.includes(`${file} ${name}`)) continue
      problems.push(`${file} exports ${name}, which nobody imports`)
    }
  }
  const importers = [...new Set(uses.filter(({ from }) => from.startsWith("src/")).map(({ from }) => from))]
  const isLazy = uses.some((use) => use.isLazy)
  const isListed = importers.some((from) => countSiblings(from) > mostListed)
  if (!isLazy && !isListed && importers.length === 1 && posix.dirname(importers[0]) === posix.dirname(file)) {
    lonely.push(`${file} <- ${importers[0]}`)
  }
}
if (lonely.length > mostPrivateFiles) {
  problems.push(
    `${lonely.length} files exist for one neighbour alone, at most ${mostPrivateFiles}:`,
    ...lonely.map((each) => `  ${each}`)
  )
}

const modules = [...files].filter(([file]) => isModule(file))
const sizes = modules.map(([, { lines }]) => lines).sort((a, b) => a - b)
const imports = modules.reduce(
  (sum, [, { used }]) =>
    sum + new Set(used.map(({ file }) => file).filter((file) => files.has(file) && isModule(file))).size,
  0
)
console.log(
  `${sizes.length} modules: ${sizes[sizes.length >> 1] ?? 0} lines in the middle, ${sizes.at(-1) ?? 0} at most; ` +
    `${imports} imports between them, ${lonely.length} for one neighbour alone`
)
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
