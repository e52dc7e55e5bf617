// Holds the modules of src to the house rules: at most 480 lines, no export without a user, and no file that exists
// for one neighbour alone. A file of its own has to be loaded on first use, run where its neighbour cannot, or be
// named below with its reason.
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
const isModule = (file) => file.startsWith("src/") && !file.endsWith(".sh.ts")

/** Names that a file exports, and the names it uses of other files; "*" stands for all of them. */
const readFile = (file) => {
  const text = readFileSync(file, "utf8")
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true)
  const exported = new Set()
  const used = []
  const resolve = (specifier) => posix.join(posix.dirname(file), specifier)
  const isExported = (node) => node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
  const addName = (name) =>
    ts.isIdentifier(name) ? exported.add(name.text) : name.elements.forEach((each) => addName(each.name))
  const visit = (node) => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier?.text.startsWith(".")) {
      const bindings = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause
      const names = bindings?.elements?.map(({ name, propertyName }) => (propertyName ?? name).text) ?? ["*"]
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
    // A type or an error may be part of another export's signature, whose declaration has to name it.
    if (ts.isVariableStatement(statement)) statement.declarationList.declarations.forEach(({ name }) => addName(name))
    else if (ts.isFunctionDeclaration(statement) && statement.name !== undefined) addName(statement.name)
  }
  return { exported, used, lines: text.split("\n").length - 1 }
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
  const names = new Set(uses.flatMap((use) => use.names))
  if (!names.has("*")) {
    for (const name of exported) if (!names.has(name)) problems.push(`${file} exports ${name}, which nobody imports`)
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
if (process.argv[3] === "stats") {
  const sizes = [...files].filter(([file]) => isModule(file)).map(([, { lines }]) => lines).sort((a, b) => a - b)
  const edges = [...files].filter(([file]) =>
    isModule(file)
  ).flatMap(([, { used }]) => [...new Set(used.map(({ file }) => file))].filter((f) => isModule(f))).length
  console.log({
    files: sizes.length,
    median: sizes[sizes.length >> 1],
    most: sizes.at(-1),
    total: sizes.reduce((a, b) =>
      a + b
    ),
    edges,
    lonely: lonely.length,
    unused: problems.filter((p) => p.includes("nobody")).length
  })
  for (const l of lonely) {
    console.log(l)
  }
}
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
