import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import ts from "typescript"
import { expect, it } from "vitest"

const isFunction = (node: ts.Expression | undefined): boolean =>
  node !== undefined &&
  (ts.isArrowFunction(node) || ts.isFunctionExpression(node) ||
    (ts.isCallExpression(node) && node.expression.getText().startsWith("Effect.fn")))

/** Names of the functions that a module exports. */
const exportedFunctions = (name: string, text: string): ReadonlyArray<string> =>
  ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true).statements.flatMap((statement) => {
    if (!ts.canHaveModifiers(statement)) return []
    if (ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) !== true) return []
    if (ts.isFunctionDeclaration(statement)) return [statement.name?.text ?? ""]
    if (!ts.isVariableStatement(statement)) return []
    return statement.declarationList.declarations.flatMap(({ initializer, name }) =>
      ts.isIdentifier(name) && isFunction(initializer) ? [name.text] : []
    )
  })

// `portsOf` says neither what it does nor how: `readPorts`, `findPorts` and `listPorts` do.
const isNoun = (name: string) => /^[a-z]\w*Of$/.test(name)

it("exported functions are found with their names", () => {
  const text =
    "export const portsOf = () => []\nexport const limit = 3\nexport function read() {}\nconst ownOf = () => 1\n"
  expect(exportedFunctions("a.ts", text)).toEqual(["portsOf", "read"])
  expect(["portsOf", "readPorts", "Of"].filter(isNoun)).toEqual(["portsOf"])
})

it("exported functions are named after an action", () => {
  const modules = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.tsx?$/.test(name) && !name.endsWith(".sh.ts")
  )
  expect(modules.length).toBeGreaterThan(300)
  expect(
    modules.flatMap((name) => exportedFunctions(name, readFileSync(join("src", name), "utf8")).filter(isNoun))
  ).toEqual([])
})
