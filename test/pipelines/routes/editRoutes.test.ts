import { describe, expect, it } from "@effect/vitest"
import { Either, Option } from "effect"
import { parse } from "yaml"
import { deleteRoute, ensureRoute, insertRoute } from "../../../src/pipelines/routes/editRoutes.ts"
import type { Refusal, RouteEdit } from "../../../src/pipelines/routes/proxyText.ts"
import type { Route } from "../../../src/schema/routes.ts"
import { plainFile, routersOf, serviceOf } from "./proxyFiles.ts"

const app: Route = { routeName: "app", domain: "app.example.com", targetIp: "10.0.0.5", port: 2007 }
const routers = routersOf("app", "app.example.com")
const service = serviceOf("app", "10.0.0.5:2007")

type Outcome = Either.Either<RouteEdit, Refusal>
const textOf = (outcome: Outcome): string => {
  if (Either.isLeft(outcome)) throw new Error(JSON.stringify(outcome.left))
  if (outcome.right._tag === "Unchanged") throw new Error(outcome.right.reason)
  return outcome.right.text
}
const reasonOf = (outcome: Outcome) =>
  Either.isRight(outcome) && outcome.right._tag === "Unchanged" ? outcome.right.reason : outcome
const refusalOf = (outcome: Outcome) => (Either.isLeft(outcome) ? outcome.left : outcome.right)
const warningsOf = (outcome: Outcome) => (Either.isRight(outcome) ? outcome.right.warnings : outcome)
const added = (text: string, route: Partial<Route> = {}) => insertRoute(text, { ...app, ...route })

const skeleton = (...sections: ReadonlyArray<string>) => `http:\n${sections.join("")}`
const redirect = "    redirect-to-https:\n      redirectScheme:\n        scheme: https\n"

const windows = (text: string) => `\uFEFF${text.replaceAll("\n", "\r\n").trimEnd()}`

describe("addRoute", () => {
  it("puts the routers immediately before the middlewares, and the service at the end of the services", () => {
    expect(textOf(added(plainFile))).toBe(
      plainFile.replace("  middlewares:\n    redirect", `${routers}  middlewares:\n    redirect`) + service
    )
    expect(warningsOf(added(plainFile))).toEqual([])
  })

  it.each([
    [
      "no middlewares",
      skeleton("  routers:\n", "  services:\n"),
      skeleton("  routers:\n", routers, "  services:\n", service)
    ],
    [
      "an empty mapping after the headers",
      skeleton("  routers: {} # none\n", "  services:   { }\n"),
      skeleton("  routers: # none\n", routers, "  services:\n", service)
    ],
    [
      "comments after the headers",
      skeleton("  routers: # first\n", "  middlewares:\t# then\n", redirect, "  services:   # last\n"),
      skeleton("  routers: # first\n", routers, "  middlewares:\t# then\n", redirect, "  services:   # last\n", service)
    ],
    [
      "a section after the services",
      skeleton("  routers:\n", "  services:\n    a: {}\n\n  # transports\n  serversTransports:\n    t: {}\n"),
      skeleton(
        "  routers:\n",
        routers,
        "  services:\n    a: {}\n",
        service,
        "\n  # transports\n  serversTransports:\n    t: {}\n"
      )
    ],
    [
      "a top-level key after the services",
      skeleton("  routers:\n", "  services:\n    a: {}\n\n\n# tls\ntls:\n  options: {}\n"),
      skeleton("  routers:\n", routers, "  services:\n    a: {}\n", service, "\n\n# tls\ntls:\n  options: {}\n")
    ],
    [
      "a comment among the entries at the end",
      skeleton("  routers:\n", "  services:\n    a: {}\n    # keep me last\n"),
      skeleton("  routers:\n", routers, "  services:\n    a: {}\n    # keep me last\n", service)
    ],
    [
      "a comment at the margin inside a section",
      skeleton("  routers:\n", "  services:\n    a: {}\n# odd\n    b: {}\n"),
      skeleton("  routers:\n", routers, "  services:\n    a: {}\n# odd\n    b: {}\n", service)
    ],
    [
      "services before routers",
      skeleton("  services:\n    a: {}\n", "  routers:\n    b: {}\n\n"),
      skeleton("  services:\n    a: {}\n", service, "  routers:\n    b: {}\n", routers, "\n")
    ],
    [
      "middlewares after the services",
      skeleton("  routers:\n", "  services:\n", "  middlewares:\n", redirect),
      skeleton("  routers:\n", routers, "  services:\n", service, "  middlewares:\n", redirect)
    ],
    [
      "middlewares before the routers",
      skeleton("  middlewares:\n", redirect, "  routers:\n", "  services:\n"),
      skeleton("  middlewares:\n", redirect, "  routers:\n", routers, "  services:\n", service)
    ],
    [
      "tcp sections of the same names, first and last",
      `tcp:\n  routers:\n    app: {}\n  services:\n    app: {}\n${
        skeleton("  routers:\n", "  services:\n")
      }udp:\n  services:\n    app: {}\n`,
      `tcp:\n  routers:\n    app: {}\n  services:\n    app: {}\n${
        skeleton("  routers:\n", routers, "  services:\n", service)
      }udp:\n  services:\n    app: {}\n`
    ],
    [
      "no http key at all",
      "  routers:\n  services:\n",
      `  routers:\n${routers}  services:\n${service}`
    ],
    [
      "a document marker",
      `---\n${skeleton("  routers:\n", "  services:\n")}...\n`,
      `---\n${skeleton("  routers:\n", routers, "  services:\n", service)}...\n`
    ],
    [
      "texts that look like sections",
      skeleton(
        "  routers:\n",
        "  middlewares:\n    note:\n      text: |\n        a\n\n\n        services:\n",
        "  services:\n"
      ),
      skeleton(
        "  routers:\n",
        routers,
        "  middlewares:\n    note:\n      text: |\n        a\n\n\n        services:\n",
        "  services:\n",
        service
      )
    ]
  ])("%s", (_, before, after) => {
    expect(textOf(added(before))).toBe(after)
  })

  it("keeps CRLF, a byte order mark and a missing final newline", () => {
    expect(textOf(added(windows(plainFile)))).toBe(windows(textOf(added(plainFile))))
    expect(textOf(added(plainFile.trimEnd()))).toBe(textOf(added(plainFile)).trimEnd())
  })

  it("keeps tabs, trailing spaces and odd blank lines", () => {
    const odd = skeleton("  routers:\t\n   \n", "    a: {}  \n\t\n\n\n", "  services:\n    a: {} \t# x\n   \n")
    expect(textOf(added(odd))).toBe(
      skeleton(
        "  routers:\t\n   \n",
        "    a: {}  \n\t\n\n\n",
        routers,
        "  services:\n    a: {} \t# x\n",
        service,
        "   \n"
      )
    )
  })

  it.each(["123", "0x1f", "1e3", "2024-01-02", "true", "No", "null", "y"])(
    "writes the name %s as a string",
    (routeName) => {
      const text = textOf(added(plainFile, { routeName }))
      const read = parse(text, { version: "1.1", mapAsMap: true })
      expect(Array.from(read.get("http").get("services").keys())).toEqual(["blog", routeName])
      expect(parse(text).http.routers[routeName].service).toBe(routeName)
      expect(reasonOf(added(text, { routeName }))).toBe("route_exists")
      expect(textOf(deleteRoute(text, routeName))).toBe(plainFile)
    }
  )

  it("writes an IPv6 target in brackets, once", () => {
    const text = textOf(added(plainFile, { targetIp: "fd00::5" }))
    expect(text).toContain("\"http://[fd00::5]:2007\"")
    expect(reasonOf(added(text, { targetIp: "fd00::5" }))).toBe("route_exists")
  })

  it.each([
    ["as Berth writes it", textOf(added(plainFile))],
    [
      "quoted",
      plainFile.replace(
        "  services:\n",
        "  services:\n    \"app\": { loadBalancer: { servers: [{ url: 'http://10.0.0.5:2007/' }] } }\n"
      )
    ],
    [
      "as a router of another service",
      skeleton("  routers:\n    app: { service: other@file }\n", "  services:\n", serviceOf("other", "10.0.0.5:2007"))
    ]
  ])("leaves a route with the same target alone: %s", (_, text) => {
    expect(reasonOf(added(text))).toBe("route_exists")
  })

  it.each<[string, Partial<Route>, string]>([
    ["another port", { port: 2008 }, "10.0.0.5:2007"],
    ["a longer port", { port: 20070 }, "10.0.0.5:2007"],
    ["a shorter port", { port: 200 }, "10.0.0.5:2007"],
    ["another address", { targetIp: "110.0.0.5" }, "10.0.0.5:2007"],
    ["the end of the address", { targetIp: "0.0.0.5" }, "10.0.0.5:2007"]
  ])("refuses a name with another target: %s", (_, route, target) => {
    expect(refusalOf(added(textOf(added(plainFile)), route))).toMatchObject({
      _tag: "Taken",
      routeName: "app",
      reason: expect.stringContaining(target)
    })
  })

  it("matches names whole", () => {
    const mine = textOf(added(plainFile, { routeName: "myapp" }))
    const text = textOf(added(mine))
    expect(Object.keys(parse(text).http.services)).toEqual(["blog", "myapp", "app"])
    expect(textOf(deleteRoute(text, "app"))).toBe(mine)
    const commented = plainFile + "# app: 10.0.0.5:2007\n"
    expect(textOf(added(commented))).toContain(routers)
  })

  it("refuses a name whose plain-http router is another's", () => {
    const text = skeleton("  routers:\n    app-http: { service: x }\n", "  services:\n")
    expect(refusalOf(added(text))).toMatchObject({ _tag: "Taken" })
    const split = textOf(added(plainFile))
    expect(refusalOf(added(split, { routeName: "app-http", port: 1 }))).toMatchObject({ _tag: "Taken" })
  })

  it("warns when the middleware of the plain-http router is not defined", () => {
    const text = skeleton("  routers:\n", "  middlewares:\n    auth: {}\n", "  services:\n")
    expect(warningsOf(added(text))).toEqual([expect.stringContaining("redirect-to-https")])
    expect(textOf(added(text))).not.toContain("redirectScheme")
  })

  it.each([
    ["no routers", skeleton("  services:\n"), "\"routers:\""],
    ["no services", skeleton("  routers:\n"), "\"services:\""],
    ["sections at another depth", "http:\n    routers:\n    services:\n", "\"routers:\""],
    ["sections on one line", "http:\n  routers: {a: {}}\n  services: {}\n", "\"routers:\""],
    ["sections of tcp only", "tcp:\n  routers:\n  services:\n", "\"routers:\""],
    ["nothing", "", "\"routers:\""],
    ["entries at another depth", "http:\n  routers:\n      a: {}\n  services:\n", "the edit would break it"],
    ["a list of services", "http:\n  routers:\n  services:\n    - a\n", "the edit would break it"]
  ])("refuses a file with %s", (_, text, reason) => {
    expect(refusalOf(added(text))).toMatchObject({ _tag: "Unfit", reason: expect.stringContaining(reason) })
  })

  it.each([
    ["a mapping inside a value", "http:\n  routers:\n    a: b\n      c: d\n  services:\n", 3],
    ["a name twice", "http:\n  routers:\n    a: {}\n    a: {}\n  services:\n", 4],
    ["a tab as indent", "http:\n  routers:\n\ta: {}\n  services:\n", 3],
    ["an alias without its anchor", "http:\n  routers:\n  services:\n    a: *none\n", 4],
    ["a second document", "http:\n  routers:\n  services:\n---\nb: 1\n", 4],
    ["templates around the keys", "http:\n  routers:\n  {{ range . }}\n    a: {}\n  {{ end }}\n  services:\n", 3]
  ])("refuses a broken file and names the line: %s", (_, text, line) => {
    expect(refusalOf(added(text))).toMatchObject({ _tag: "Broken", line })
    expect(refusalOf(deleteRoute(text, "a"))).toMatchObject({ _tag: "Broken", line })
  })

  it.each<[string, Partial<Route>]>([
    ["name", { routeName: "a: {}\n    b" }],
    ["name", { routeName: "-app" }],
    ["name", { routeName: "" }],
    ["name", { routeName: "a.b" }],
    ["domain", { domain: "a`) || Host(`b" }],
    ["domain", { domain: "a\"b" }],
    ["domain", { domain: "{{ env }}" }],
    ["domain", { domain: "a b" }],
    ["domain", { domain: "-a.example.com" }],
    ["domain", { domain: "a..b" }],
    ["domain", { domain: "a.example.com\n" }],
    ["domain", { domain: "https://a" }],
    ["domain", { domain: "*.example.com" }],
    ["domain", { domain: `${"a".repeat(64)}.com` }],
    ["target", { targetIp: "10.0.0.1\"" }],
    ["target", { targetIp: "fd00::1]" }],
    ["target", { targetIp: "fd00::zz" }],
    ["target", { targetIp: "" }],
    ["port", { port: 0 }],
    ["port", { port: 65536 }],
    ["port", { port: 80.5 }]
  ])("refuses a %s that is none: %o", (_, route) => {
    expect(refusalOf(added(plainFile, route))).toMatchObject({ _tag: "Invalid" })
  })
})

describe("removeRoute", () => {
  it("gives the file back that the route was added to", () => {
    expect(textOf(deleteRoute(textOf(added(plainFile)), "app"))).toBe(plainFile)
  })

  it("takes deeper lines and blank lines with an entry, collapses blank lines, and leaves comments", () => {
    const text = skeleton(
      "  # routers\n  routers:\n    a: {}\n\n    # the app\n    app:\n      rule: x\n      # deeper\n\n    app-http:\n\n      rule: y\n\n    # next\n    b: {}\n\n\n",
      "  services:\n    app:\n      x: 1\n    b: {}\n\n\n\n# end\n"
    )
    expect(textOf(deleteRoute(text, "app"))).toBe(skeleton(
      "  # routers\n  routers:\n    a: {}\n\n    # the app\n    # next\n    b: {}\n\n",
      "  services:\n    b: {}\n\n# end\n"
    ))
  })

  it("collapses no blank lines inside a text", () => {
    const note = "  middlewares:\n    note:\n      text: |\n        a\n\n\n        b\n      other: 'c\n\n\n        d'\n"
    const text = skeleton("  routers:\n    a: {}\n    app: {}\n\n\n", note, "  services:\n    a: {}\n")
    expect(textOf(deleteRoute(text, "app"))).toBe(skeleton("  routers:\n    a: {}\n", note, "  services:\n    a: {}\n"))
  })

  it.each([
    ["route", "route_not_found", plainFile],
    ["og", "route_not_found", plainFile],
    ["blog.", "Invalid", plainFile],
    ["url", "route_not_found", plainFile],
    ["rule", "route_not_found", plainFile],
    ["services", "route_not_found", plainFile],
    ["app", "route_not_found", `${plainFile}    # app: {}\n`],
    ["app", "route_not_found", `${plainFile}tcp:\n  routers:\n    app: {}\n`],
    ["app", "route_not_found", "app: 1\n"]
  ])("leaves %s alone: %s", (name, reason, text) => {
    const outcome = deleteRoute(text, name)
    expect(Either.isLeft(outcome) ? outcome.left._tag : reasonOf(outcome)).toBe(reason)
  })

  it("removes a route that is called like a key of routes", () => {
    const text = textOf(added(plainFile, { routeName: "service" }))
    expect(textOf(deleteRoute(text, "service"))).toBe(plainFile)
  })

  it("keeps the entries of tcp, and the final newline as it was", () => {
    const tcp = "tcp:\n  routers:\n    app: {}\n  services:\n    app: {}\n"
    const text = textOf(added(skeleton("  routers:\n    a: {}\n", "  services:\n    a: {}")))
    expect(textOf(deleteRoute(text, "app"))).toBe(skeleton("  routers:\n    a: {}\n", "  services:\n    a: {}"))
    expect(textOf(deleteRoute(tcp + text, "app"))).toBe(tcp + textOf(deleteRoute(text, "app")))
  })

  it("leaves an empty mapping where the last entry was, and adds to it again", () => {
    const one = textOf(added(skeleton("  routers: # r\n", "  services: {}\n")))
    const none = skeleton("  routers: {} # r\n", "  services: {}\n")
    expect(textOf(deleteRoute(one, "app"))).toBe(none)
    expect(textOf(added(none))).toBe(one)
  })

  it("removes an entry of the middlewares too, unless a router that stays uses it", () => {
    const text = skeleton(
      "  routers:\n    app: { middlewares: [app] }\n    b: { middlewares: [auth] }\n",
      "  middlewares:\n    auth: {}\n    app: {}\n",
      "  services:\n    b: {}\n"
    )
    expect(textOf(deleteRoute(text, "app"))).toBe(skeleton(
      "  routers:\n    b: { middlewares: [auth] }\n",
      "  middlewares:\n    auth: {}\n",
      "  services:\n    b: {}\n"
    ))
    expect(refusalOf(deleteRoute(text.replace("[auth]", "[app@file]"), "app"))).toMatchObject({
      _tag: "Unfit",
      reason: expect.stringContaining("\"b\"")
    })
  })

  it("warns when a router that stays uses the removed service", () => {
    const text = textOf(added(skeleton("  routers:\n    www: { service: app }\n", "  services:\n    b: {}\n")))
    expect(warningsOf(deleteRoute(text, "app"))).toEqual([expect.stringContaining("\"www\"")])
  })

  it.each([
    ["the routers header is missing", "http:\n  services:\n    app: {}\n    b: {}\n", "\"routers:\""],
    ["the services header is missing", "http:\n  routers:\n    app: {}\n    b: {}\n", "\"services:\""],
    [
      "the name stands at another depth",
      "http:\n  routers:\n      app: {}\n      b: {}\n  services:\n",
      "only entries at four spaces"
    ],
    ["the name stays deeper", `${plainFile}    x:\n      app: 1\n    app: {}\n`, "only entries at four spaces"],
    [
      "something else refers to its anchor",
      "http:\n  routers:\n    app: &a {}\n    b: *a\n  services:\n",
      "the edit would break it"
    ]
  ])("refuses when %s", (_, text, reason) => {
    expect(refusalOf(deleteRoute(text, "app"))).toMatchObject({
      _tag: "Unfit",
      reason: expect.stringContaining(reason)
    })
  })
})

describe("ensureRoute", () => {
  const mine = textOf(added(plainFile))

  it("adds a route that is new", () => {
    expect(ensureRoute(plainFile, app)).toEqual(Either.right({
      _tag: "Edited",
      change: "inserted",
      text: mine,
      warnings: []
    }))
  })

  it.each([
    ["back-ticks", "\"Host(`app.example.com`)\""],
    ["double quotes", "'Host(\"app.example.com\")'"],
    ["escaped quotes", "\"Host(\\\"app.example.com\\\")\""],
    ["single quotes", "\"Host('app.example.com')\""],
    ["a list", "Host(`www.example.com`, `APP.example.com`)"],
    ["a path", "PathPrefix(`/x`) && Host(`app.example.com`)"]
  ])("leaves a domain alone that is routed: %s", (_, rule) => {
    const text = plainFile.replaceAll("\"Host(`blog.example.com`)\"", rule)
    expect(ensureRoute(text, { ...app, targetIp: "192.168.1.20", port: 2010 })).toEqual(
      Either.right({ _tag: "Unchanged", reason: "domain_routed", warnings: [] })
    )
    expect(warningsOf(ensureRoute(text, app))).toEqual([expect.stringContaining("192.168.1.20:2010")])
  })

  it.each([
    "Host(`myapp.example.com`)",
    "Host(`app.example.com.evil.org`)",
    "HostRegexp(`app.example.com`)",
    "!Host(`app.example.com`)",
    "Path(`app.example.com`)"
  ])("takes %s for another domain", (rule) => {
    const text = plainFile.replaceAll("Host(`blog.example.com`)", rule)
    expect(ensureRoute(text, app)).toMatchObject(Either.right({ change: "inserted" }))
  })

  it("replaces its own route under a changed domain in one edit", () => {
    const moved = { ...app, domain: "new.example.com" }
    const outcome = ensureRoute(mine, moved)
    expect(outcome).toMatchObject(Either.right({ change: "replaced", warnings: [] }))
    expect(textOf(outcome)).toBe(textOf(insertRoute(plainFile, moved)))
    const renumbered = { ...moved, port: 2099, targetIp: "10.0.0.6" }
    const owner = { formerTargets: ["10.0.0.5:2007"], lastDomain: Option.none(), namesakes: [] }
    expect(textOf(ensureRoute(mine, renumbered, owner))).toBe(textOf(insertRoute(plainFile, renumbered)))
  })

  const moved = { ...app, port: 2099 }
  const last = { formerTargets: [], lastDomain: Option.some("app.example.com"), namesakes: [] }
  it.each([
    ["leads to where the application was", mine, {
      ...last,
      lastDomain: Option.none(),
      formerTargets: ["10.0.0.5:2007"]
    }],
    ["was sent elsewhere", mine.replace("10.0.0.5:2007", "10.0.0.99:1"), last],
    ["has lost its service", mine.replace(/\n {4}app:\n {6}loadBalancer:\n.*\n.*url.*/, ""), last],
    ["has lost its https router", mine.replace(/ {4}app:\n {6}rule(?:.*\n)+?(?= {4}app-http:)/, ""), last]
  ])("moves its own route of the same domain when it %s", (_, text, owner) => {
    expect(parse(text)).toBeTruthy()
    expect(text === mine).toBe(owner !== last)
    const outcome = ensureRoute(text, moved, owner)
    expect(outcome).toMatchObject(Either.right({ _tag: "Edited", change: "replaced", warnings: [] }))
    expect(parse(textOf(outcome))).toEqual(parse(textOf(insertRoute(plainFile, moved))))
  })

  it.each([
    ["another application may own it", mine, { ...last, namesakes: ["a.pp"] }],
    ["nothing tells that it is the application's", mine, { ...last, lastDomain: Option.none() }],
    ["it was last written for another domain", mine, { ...last, lastDomain: Option.some("old.example.com") }]
  ])("leaves a route that leads elsewhere alone when %s", (_, text, owner) => {
    expect(ensureRoute(text, moved, owner)).toEqual(Either.right({
      _tag: "Unchanged",
      reason: "routed_elsewhere",
      warnings: [expect.stringContaining("points to 10.0.0.5:2007")]
    }))
  })

  it("knows its own route by an address in any case", () => {
    const lettered = { ...app, targetIp: "FD00::a" }
    const moved = { ...lettered, domain: "new.example.com" }
    expect(textOf(ensureRoute(textOf(added(plainFile, lettered)), moved))).toBe(textOf(insertRoute(plainFile, moved)))
  })

  it("says which other application the route may belong to", () => {
    const owner = { formerTargets: [], lastDomain: Option.none(), namesakes: ["a.pp"] }
    expect(refusalOf(ensureRoute(mine, { ...app, domain: "new.example.com" }, owner))).toMatchObject({
      _tag: "Taken",
      reason: expect.stringContaining("it points to 10.0.0.5:2007, and may belong to \"a.pp\"")
    })
  })

  it("replaces a route that is the only one", () => {
    const only = textOf(added(skeleton("  routers: {}\n", "  services: {}\n")))
    expect(textOf(ensureRoute(only, { ...app, domain: "new.example.com" }))).toBe(
      only.replaceAll("app.example.com", "new.example.com")
    )
  })

  it("keeps a middleware of the same name when it replaces a route", () => {
    const text = mine.replace("\n  middlewares:\n", "\n  middlewares:\n    app: {}\n")
    expect(parse(textOf(ensureRoute(text, { ...app, domain: "new.example.com" }))).http.middlewares.app).toEqual({})
  })

  it.each([
    ["another application's", mine, { port: 2099 }],
    ["at its port of another address", mine, { targetIp: "10.0.0.6" }],
    ["no server's", skeleton("  routers:\n    app: { service: api@internal }\n", "  services:\n"), {}]
  ])("refuses to replace a route that is %s", (_, text, route) => {
    expect(refusalOf(ensureRoute(text, { ...app, ...route, domain: "new.example.com" }))).toMatchObject({
      _tag: "Taken"
    })
  })
})
