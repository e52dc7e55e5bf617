// Fails when folders below src/*, or those that are given, import each other, directly or through others, at any depth.
// A file of a folder is a node beside its subfolders: dependency-cruiser merges folders with all below them, so it never
// sees a cycle between two folders through a module that lies next to one of them.
import { readdirSync, readFileSync } from "node:fs"
import { posix } from "node:path"
import ts from "typescript"

const entriesOf = (folder) => readdirSync(folder, { withFileTypes: true })
const sourcesIn = (folder) =>
  entriesOf(folder).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    return entry.isDirectory() ? sourcesIn(path) : /\.tsx?$/.test(entry.name) ? [path] : []
  })

const floors = entriesOf("src").filter((entry) => entry.isDirectory()).map(({ name }) => `src/${name}`)
const roots = process.argv.length > 2 ? process.argv.slice(2) : floors

const importsOf = (file) =>
  ts.preProcessFile(readFileSync(file, "utf8"), true, true).importedFiles
    .map(({ fileName }) => posix.join(posix.dirname(file), fileName))

/** The innermost folder that holds both files, and their nodes in it. */
const meet = (from, to) => {
  const [a, b] = [from.split("/"), to.split("/")]
  const depth = a.findIndex((part, at) => part !== b[at])
  const nodeOf = (parts) => parts[depth]
  return { folder: a.slice(0, depth).join("/"), start: nodeOf(a), end: nodeOf(b) }
}

/** Imports between the nodes of a folder: folder, node that imports, node that is imported, examples. */
const graphs = new Map()
const getOrAdd = (map, key, value) => map.get(key) ?? map.set(key, value).get(key)
for (const root of roots) {
  const files = new Set(sourcesIn(root))
  for (const from of files) {
    for (const to of importsOf(from).filter((file) => files.has(file))) {
      const { end, folder, start } = meet(from, to)
      if (start === end) continue
      const graph = getOrAdd(graphs, folder, new Map())
      getOrAdd(getOrAdd(graph, start, new Map()), end, []).push(`${from} -> ${to}`)
    }
  }
}

const reachable = (graph, start, found = new Set()) => {
  for (const next of graph.get(start)?.keys() ?? []) {
    if (found.has(next)) continue
    found.add(next)
    reachable(graph, next, found)
  }
  return found
}

const mostExamples = 3
const imports = (graph, nodes) =>
  nodes.flatMap((from) =>
    [...graph.get(from)].filter(([to]) => nodes.includes(to)).flatMap(([, examples]) => {
      const rest = examples.length - mostExamples
      return [...examples.slice(0, mostExamples), ...(rest > 0 ? [`and ${rest} more from ${from}`] : [])]
    })
  )

const cycles = [...graphs].sort().flatMap(([folder, graph]) => {
  const reach = new Map([...graph.keys()].sort().map((node) => [node, reachable(graph, node)]))
  const cycleOf = (node) =>
    [...reach.keys()].filter((other) => reach.get(node).has(other) && reach.get(other).has(node))
  // Cycles of files alone are those of dependency-cruiser.
  const isOurs = (node) => cycleOf(node)[0] === node && cycleOf(node).some((each) => !/\.tsx?$/.test(each))
  return [...reach.keys()].filter(isOurs).map((node) => ({
    title: `error folder-cycles ${folder}: ${cycleOf(node).join(" <-> ")}`,
    lines: imports(graph, cycleOf(node)).map((line) => `  ${line}`)
  }))
})

for (const { lines, title } of cycles) console.error([title, ...lines].join("\n"))
if (cycles.length > 0) {
  console.error("Folders that import each other are one folder, or share a third that holds the code both need.")
  process.exitCode = 1
}
