import { describe, expect, it } from "@effect/vitest"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { describeTool, listTools } from "../../src/mcp/server.ts"

const all = listTools({ readOnly: false })
const changing = ["apply_deploy", "rollback", "apply_app", "remove_app", "cancel_run"]

describe("the tools", () => {
  it("are at most 21, and their list costs an agent at most 7,000 tokens", () => {
    expect(all.length).toBeLessThanOrEqual(21)
    expect(countTokens(JSON.stringify(all.map(describeTool)))).toBeLessThanOrEqual(7_000)
  })

  it.each(all.map((tool) => [tool.name, tool] as const))("%s says what it is, and takes one object", (name, tool) => {
    expect(name).toMatch(/^[a-z_]{3,30}$/)
    expect(tool.title).not.toBe("")
    expect(tool.description.match(/[.](?: |$)/g)?.length).toBeLessThanOrEqual(3)
    expect(tool.inputSchema).toMatchObject({ type: "object", additionalProperties: false })
    expect(tool.outputSchema).toMatchObject({ type: "object" })
    for (const schema of [tool.inputSchema, tool.outputSchema]) {
      expect(JSON.stringify(schema)).not.toMatch(/"\$(?:ref|schema|defs)"/)
    }
  })

  it("tell truly what changes something, and need a plan for it", () => {
    expect(all.filter(({ readOnly }) => !readOnly).map(({ name }) => name)).toEqual(changing)
    for (const tool of all.filter(({ name }) => /^(?:apply|remove)_/.test(name))) {
      expect(tool.inputSchema["required"]).toContain("planHash")
    }
  })

  it("that change anything are hidden from who may only read", () => {
    expect(listTools({ readOnly: true }).map(({ name }) => name)).toEqual(
      all.map(({ name }) => name).filter((name) => !changing.includes(name))
    )
  })
})
