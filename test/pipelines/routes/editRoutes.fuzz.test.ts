import { describe, expect, it } from "@effect/vitest"
import { Either, FastCheck as fc } from "effect"
import { parse } from "yaml"
import { deleteRoute, insertRoute } from "../../../src/pipelines/routes/editRoutes.ts"
import type { Route } from "../../../src/schema/routes.ts"
import { inPart } from "../../fixtures/thorough.ts"

const name = fc.stringMatching(/^[a-z0-9][a-zA-Z0-9_-]{0,6}$/)
const domain = fc.stringMatching(/^[a-z0-9]{1,6}\.example\.com$/)
const octet = fc.integer({ min: 0, max: 255 })
const route: fc.Arbitrary<Route> = fc.record({
  routeName: fc.oneof(name, fc.constantFrom("app", "app-http", "true", "12", "rule", "services", "middlewares")),
  domain,
  targetIp: fc.tuple(octet, octet, octet, octet).map((octets) => octets.join(".")),
  port: fc.integer({ min: 1, max: 65535 })
})

const noise = fc.constantFrom("", "", "\n", "    # note\n", "\n\n", "      # deep\n", "# margin\n", "  # section\n")
const value = fc.constantFrom(
  " {}\n",
  "\n      _rule: Host(`x`)\n      _service: y\n",
  "\n      _text: |\n        a\n\n\n        services:\n",
  "\n      _text: |+\n        kept\n\n\n",
  " &anchor\n      _a: 1\n",
  "\n      _list:\n        - app\n        - \"app: 1\"\n",
  " 'quoted\n\n\n      text'\n"
)
const section = (header: string) =>
  fc.tuple(
    fc.constantFrom("", " # note", "\t", " {}"),
    fc.uniqueArray(fc.tuple(name, value, noise), { maxLength: 4, selector: ([key]) => key })
  ).map(([tail, entries]) =>
    entries.length === 0
      ? `  ${header}:${tail}\n`
      : `  ${header}:${tail.replace(" {}", "")}\n${
        entries.map(([key, text, after]) => `    x${key}:${text.replace("&anchor", `&a${key}`)}${after}`).join("")
      }`
  )
const file = fc.tuple(
  fc.constantFrom("", "# top\n", "tcp:\n  routers:\n    app: {}\n  services: {}\n", "---\n"),
  fc.tuple(section("routers"), section("services"), fc.option(section("middlewares")), fc.option(section("other")))
    .chain((sections) =>
      fc.shuffledSubarray(sections.flatMap((text) => text ?? []), {
        minLength: sections.filter((text) => text !== null).length
      })
    ),
  noise,
  fc.constantFrom("", "\ntls:\n  options: {}\n", "udp:\n  services:\n    app: 1\n"),
  fc.boolean(),
  fc.boolean(),
  fc.boolean()
).map(([top, sections, gap, bottom, windows, bare, mark]) => {
  const text = `${top}http:\n${sections.join(gap)}${bottom}`
  const ended = bare ? text.replace(/\n$/, "") : text
  return (mark ? "\uFEFF" : "") + (windows ? ended.replaceAll("\n", "\r\n") : ended)
})

const edited = (outcome: ReturnType<typeof insertRoute>) =>
  Either.isRight(outcome) && outcome.right._tag === "Edited" ? outcome.right.text : undefined

/** Value of a file; an empty section equals a missing one. */
const held = (text: string) => {
  const read = parse(text)
  return { ...read, http: { ...read.http, routers: read.http.routers ?? {}, services: read.http.services ?? {} } }
}

/** A file without blank lines, and with empty sections written in one way. */
const squeezed = (text: string) =>
  text.split(/\r?\n/).filter((line) => !/^[ \t]*$/.test(line)).map((line) => line.replace(/^( {2}[a-z]+:) \{\}/, "$1"))

const runs = { numRuns: inPart(150, 20) }

describe("random files", () => {
  it("hold one route more after an addition, and nothing else changed", () => {
    fc.assert(
      fc.property(file, route, (text, added) => {
        const after = edited(insertRoute(text, added))
        fc.pre(after !== undefined)
        const before = held(text)
        const { routeName } = added
        expect(held(after ?? "")).toEqual({
          ...before,
          http: {
            ...before.http,
            routers: {
              ...before.http.routers,
              [routeName]: {
                rule: `Host(\`${added.domain}\`)`,
                entryPoints: ["https"],
                service: routeName,
                tls: { certResolver: "letsencrypt" }
              },
              [`${routeName}-http`]: {
                rule: `Host(\`${added.domain}\`)`,
                entryPoints: ["http"],
                middlewares: ["redirect-to-https"],
                service: routeName
              }
            },
            services: {
              ...before.http.services,
              [routeName]: { loadBalancer: { servers: [{ url: `http://${added.targetIp}:${added.port}` }] } }
            }
          }
        })
        const kept = text.split("\n").filter((line) => !/^ {2}(routers|services):/.test(line))
        const lines = (after ?? "").split("\n").map((line) => line.replace(/\r$/, ""))
        expect(kept.every((line) => lines.includes(line.replace(/\r$/, "")))).toBe(true)
        expect(/[^\r]\n/.test(after ?? "")).toBe(/[^\r]\n/.test(text))
        expect((after ?? "").endsWith("\n")).toBe(text.endsWith("\n"))
      }),
      runs
    )
  })

  it("are as they were, but for blank lines, when the route is removed again", () => {
    fc.assert(
      fc.property(file, route, (text, added) => {
        const after = edited(insertRoute(text, added))
        fc.pre(after !== undefined)
        const removed = edited(deleteRoute(after ?? "", added.routeName))
        fc.pre(removed !== undefined)
        expect(held(removed ?? "")).toEqual(held(text))
        expect(squeezed(removed ?? "")).toEqual(squeezed(text))
      }),
      runs
    )
  })

  it("take any number of routes, and give them up in any order", () => {
    fc.assert(
      fc.property(
        file,
        fc.uniqueArray(route, { maxLength: 5, selector: ({ routeName }) => routeName.replace(/(-http)+$/, "") }),
        (text, routes) => {
          const full = routes.reduce((sofar, each) => edited(insertRoute(sofar, each)) ?? sofar, text)
          const empty = routes.toReversed().reduce(
            (sofar, each) => edited(deleteRoute(sofar, each.routeName)) ?? sofar,
            full
          )
          expect(held(empty)).toEqual(held(text))
        }
      ),
      { numRuns: inPart(60, 10) }
    )
  })
})
