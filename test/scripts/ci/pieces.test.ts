import { existsSync, readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import type { Piece } from "../../../scripts/ci/judge.ts"
import { fromNothing, furtherSuites, gate, inTurnOf, maySkip } from "../../../scripts/ci/pieces.ts"
import { storeSuites } from "../../fixtures/engines/engine.ts"

const files = readdirSync("test", { recursive: true, encoding: "utf8" })
  .map((name) => `test/${name.replaceAll("\\", "/")}`)
  .filter((name) => name.endsWith(".test.ts"))

/** Endings and folders of what a project of vitest takes, as its configuration says. */
const kinds: Readonly<Record<string, (file: string) => boolean>> = {
  unit: (file) => !/\.(sandbox|scenario|real|worlds|page)\.test\.ts$/.test(file) && !file.startsWith("test/faults/"),
  scenario: (file) => file.endsWith(".scenario.test.ts"),
  sandbox: (file) => /\.(sandbox|worlds)\.test\.ts$/.test(file),
  real: (file) => /\.(real|worlds)\.test\.ts$/.test(file),
  page: (file) => file.endsWith(".page.test.ts"),
  faults: (file) => file.startsWith("test/faults/"),
  soaks: (file) => file.startsWith("test/faults/"),
  measured: (file) => file.startsWith("test/faults/"),
  engine26: (file) => storeSuites.engine26.includes(file),
  engine28: (file) => storeSuites.engine28.includes(file)
}

/** Projects and parts of paths in the command of a piece. */
const read = ({ command }: Piece) => ({
  projects: command.flatMap((word, at) => command[at - 1] === "--project" ? [word] : []),
  paths: command.filter((word) => word.startsWith("test/"))
})

const isTakenBy = (piece: Piece, file: string) => {
  const { paths, projects } = read(piece)
  return projects.some((project) => kinds[project]?.(file)) &&
    (paths.length === 0 || paths.some((path) => file.includes(path)))
}

const withVitest = [...gate, fromNothing, ...furtherSuites].filter(({ command }) => command.includes("vitest"))

describe("the pieces", () => {
  it("take every file that `npm test` leaves out, once among the further suites or in the gate", () => {
    const left = files.filter((file) => ["scenario", "real", "page", "faults"].some((kind) => kinds[kind]?.(file)))
    const isOfEngine = (piece: Piece) => read(piece).projects.some((project) => project.startsWith("engine"))
    const wrong = left.flatMap((file) => {
      const pieces = withVitest.filter((piece) => !isOfEngine(piece) && isTakenBy(piece, file))
      return pieces.length === 1 ? [] : [`${file}: ${pieces.map(({ name }) => name).join(", ") || "in none"}`]
    })
    expect(wrong).toEqual([])
  })

  it("take every case of the files of `npm test` that run a part of theirs", () => {
    const partly = files.filter((file) =>
      (kinds["unit"]?.(file) === true || file.endsWith(".sandbox.test.ts")) &&
      /\bin(?:Part|Turn)\(/.test(readFileSync(file, "utf8"))
    )
    const thorough = withVitest.filter(({ env }) => env?.["BERTH_THOROUGH"] === "1")
    expect(partly.length).toBeGreaterThan(10)
    expect(partly.filter((file) => !thorough.some((piece) => isTakenBy(piece, file)))).toEqual([])
  })

  it("check the types of what `npm run typecheck` does", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8"))
    const commands = gate.filter(({ name }) => name.startsWith("typecheck: ")).map(({ command }) =>
      command.slice(1).join(" ")
    )
    expect(scripts.typecheck).toBe(commands.join(" && "))
  })

  it("name no file that is not there", () => {
    const taken = (piece: Piece, path: string) => files.some((file) => file.includes(path) && isTakenBy(piece, file))
    const idle = withVitest.flatMap((piece) => read(piece).paths.filter((path) => !taken(piece, path)))
    expect(idle).toEqual([])
    expect([...maySkip.keys()].filter((file) => !existsSync(file))).toEqual([])
  })

  it("have names of their own", () => {
    const names = [...gate, fromNothing, ...furtherSuites].map(({ name }) => name)
    expect(names).toEqual([...new Set(names)])
  })

  it("of the further suites begin at another one for each commit, and are always all", () => {
    const orders = Array.from({ length: 100 }, (_, at) => inTurnOf(furtherSuites, (at * 0x1234567).toString(16)))
    expect(new Set(orders.map(([first]) => first?.name)).size).toBeGreaterThan(10)
    for (const order of orders) expect(order.toSorted(byName)).toEqual(furtherSuites.toSorted(byName))
    expect(inTurnOf(furtherSuites, "")).toEqual(furtherSuites)
  })
})

const byName = (one: Piece, other: Piece) => one.name.localeCompare(other.name)
