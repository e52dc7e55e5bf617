import { Either, Option } from "effect"
import { describe, expect, it } from "vitest"
import { deleteRoute, ensureRoute, insertRoute } from "../../../src/pipelines/routes/editRoutes.ts"
import { readTemplateBlocks } from "../../../src/pipelines/routes/goTemplates.ts"

const route = { routeName: "app", domain: "app.example.com", targetIp: "10.0.0.5", port: 2007 }

const linesOf = (text: string) => text.split("\n").map((text) => ({ text, end: "\n" }))
const depths = (text: string) =>
  Either.map(readTemplateBlocks(linesOf(text)), (blocks) => blocks.map(({ depth }) => depth).join(""))

describe("templates of a proxy file", () => {
  it.each([
    ["a: 1\nb: 2", "000"],
    ["#{{ range .A }}\na: 1\n#{{ end }}\nb: 1", "01100"],
    ["#{{- if eq .A \"}}\" -}}\n#{{ else if .B }}\n#{{with .C}}\n#{{end}}\n#{{- end -}}", "011210"],
    ["#{{/* range */}}\na: \"{{ env `A{{B` }}\"\n#{{ define \"x\" }}{{ end }}", "0000"],
    ["#{{ range\n#  .A }}\na: 1\n#{{ end }}", "01110"],
    ["#{{/* a\n# b */}}\na: 1", "0100"]
  ])("open and close blocks: %j", (text, expected) => {
    expect(depths(text)).toEqual(Either.right(expected))
  })

  it.each(["#{{ range .A }}\na: 1", "#{{ end }}", "a: {{ env \"A\"", "#{{ if .A }}\n#{{ end }}{{ end }}"])(
    "that do not end are told: %j",
    (text) => {
      expect(depths(text)).toMatchObject(Either.left({ _tag: "Unfit", reason: "it has a template that does not end" }))
    }
  )
})

/** A file whose routers and services are made in a loop; the loops end at a column. */
const looped = (column: number, names: ReadonlyArray<"routers" | "services"> = ["routers", "services"]) => {
  const end = `${" ".repeat(column)}#{{ end }}\n`
  const sections = {
    routers: "    \"{{ $n }}\":\n      rule: \"Host(`{{ $n }}.example.com`)\"\n      service: \"{{ $n }}\"\n",
    services: "    \"{{ $n }}\":\n      loadBalancer:\n        servers:\n          - url: \"http://10.0.0.9:2011\"\n"
  }
  return `http:\n${
    names.map((name) => `  ${name}:\n    #{{ range $n := list "red" "blue" }}\n${sections[name]}${end}`).join("")
  }`
}

/** The lines of a text that stand in no block. */
const outside = (text: string) => {
  const lines = linesOf(text)
  const blocks = Either.getOrThrow(readTemplateBlocks(lines))
  return lines.flatMap(({ text }, index) => blocks[index]?.depth === 0 ? [text] : []).join("\n")
}

describe("a file with templates", () => {
  it.each([
    [0, undefined],
    [4, undefined],
    [6, undefined],
    [0, ["services", "routers"] as const],
    [4, ["services", "routers"] as const]
  ])("gets a route outside of its loops, which end at column %d", (column, names) => {
    const before = looped(column, names)
    const outcome = Either.getOrThrow(insertRoute(before, route))
    const text = outcome._tag === "Edited" ? outcome.text : ""
    const own = outside(text)
    expect(own).toContain("    app:\n      rule: \"Host(`app.example.com`)\"")
    expect(own).toContain("    app-http:\n")
    expect(own).toContain("    app:\n      loadBalancer:\n")
    expect(text.replaceAll(/ {4}app(?:-http)?:\n(?: {5,}.*\n)+/g, "")).toBe(before)
    // And loses it again.
    expect(Either.getOrThrow(deleteRoute(text, "app"))).toMatchObject({ text: before })
  })

  const within = looped(0).replaceAll("\"{{ $n }}\"", "app").replaceAll("{{ $n }}.example.com", "app.example.com")

  it("keeps what its blocks hold, and says where they begin", () => {
    for (
      const outcome of [
        deleteRoute(within, "app"),
        ensureRoute(within, route, {
          formerTargets: ["10.0.0.9:2011"],
          lastDomain: Option.none(),
          namesakes: []
        })
      ]
    ) {
      expect(outcome).toMatchObject(Either.left({
        _tag: "Unfit",
        reason: expect.stringContaining("would stand within the template that begins in line")
      }))
    }
    // Behind it, the first line of the route would become a part of the comment.
    const trimmed = looped(0).replace(/#\{\{ end \}\}\n$/, "#{{- end -}}\n")
    expect(insertRoute(trimmed, route)).toMatchObject(Either.left({ _tag: "Unfit" }))
    const before = looped(0, ["services"]).replace("  services:", "  routers:\n    a: {}\n#{{ if .A }}\n  services:")
    const outcome = Either.getOrThrow(insertRoute(`${before}#{{ end }}\n    b: {}\n`, route))
    expect(outcome._tag === "Edited" ? outcome.text : "").toContain("    a: {}\n    app:\n      rule:")
    const open = "http:\n  #{{ if true }}\n  routers: {}\n  services: {}\n  #{{ end }}\n"
    expect(insertRoute(open, route)).toMatchObject(Either.left({ _tag: "Unfit", line: 4 }))
  })
})
