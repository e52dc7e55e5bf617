import { describe, expect, it } from "@effect/vitest"
import { formatTable } from "../../../src/cli/output.ts"

const id = "01m80yqq5mpfzvahn1sfvx7mvm"
const uuid = "kscs8ogsg4w8cg8kgkco4ws4-2b7e1516"
const runHeadings = ["RUN", "WHAT", "OF", "STATE", "ASKED", "TOOK", "BY"]
const tables: ReadonlyArray<readonly [headings: ReadonlyArray<string>, row: ReadonlyArray<string>]> = [
  [runHeadings, [id, "deploy", "hello", "succeeded", "3 min ago", "12 s", "ann"]],
  [[...runHeadings, "BEHIND"], [id, "deploy", "a-shop-with-a-long-name", "queued", "3 min ago", "12 s", "ann", id]],
  [["SERVER", "CONTAINER", "STATUS", "PORTS"], [
    "Main attic of the house",
    "hello-web-and-worker-1",
    "Up 2 hours (healthy)",
    "0.0.0.0:2007->8080/tcp"
  ]],
  [["ID", "NAME", "HOST", "PORT", "USER", "SUDO"], [
    "1763800000001",
    "Main",
    "main.example.com",
    "22",
    "deployer",
    "yes"
  ]],
  [["NAME", "STATUS", "PORT", "ADDRESS", "UUID"], [
    "hello",
    "running:healthy",
    "2007",
    "https://hello.example.com",
    uuid
  ]],
  [["ROUTE", "DOMAINS", "TARGETS", "APPLICATION", "MADE BY"], [
    "hello",
    "hello.example.com",
    "http://10.0.0.1:2007",
    "hello",
    "berth"
  ]]
]
const copied = ["RUN", "OF", "BEHIND", "SERVER", "CONTAINER", "ID", "NAME", "UUID", "ROUTE", "APPLICATION"]

describe("a table", () => {
  it("never cuts what a command takes, and is no wider than its terminal", () => {
    for (const columns of [40, 44, 60, 80, 120]) {
      for (const [headings, row] of tables) {
        const text = formatTable(headings, [row, row], { columns, isTerminal: true, hasColor: false })
        for (const [index, cell] of row.entries()) {
          if (copied.includes(headings[index] ?? "")) {
            expect([columns, text]).toEqual([columns, expect.stringContaining(cell)])
          }
        }
        for (const line of text.split("\n")) {
          expect([columns, line, line.length <= columns]).toEqual([columns, line, true])
        }
      }
    }
  })

  it("has a few lines for each row where there is no room beside each other", () => {
    const [headings, row] = tables[0] ?? [[], []]
    const surface = { isTerminal: true, hasColor: false }
    expect(formatTable(headings, [row, [...row.slice(0, 6), ""]], { columns: 44, ...surface })).toBe(`RUN    ${id}
WHAT   deploy
OF     hello
STATE  succeeded
ASKED  3 min ago
TOOK   12 s
BY     ann

RUN    ${id}
WHAT   deploy
OF     hello
STATE  succeeded
ASKED  3 min ago
TOOK   12 s`)
    expect(formatTable(headings, [row], { columns: 80, ...surface }).split("\n")).toHaveLength(2)
  })
})
