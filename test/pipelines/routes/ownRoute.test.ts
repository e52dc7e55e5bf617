import { Either, FastCheck as fc, Option } from "effect"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import { deleteRoute, ensureRoute } from "../../../src/pipelines/routes/editRoutes.ts"
import type { RouteOwner } from "../../../src/pipelines/routes/ownRoute.ts"
import { readProxy } from "../../../src/pipelines/routes/proxyText.ts"
import { listServingServices, readRoutes, readSectionEntries } from "../../../src/pipelines/routes/queryProxy.ts"
import { inPart } from "../../fixtures/thorough.ts"
import { plainFile, routersOf, serviceOf } from "./proxyFiles.ts"

const app = { routeName: "app", domain: "app.example.com", targetIp: "10.0.0.5", port: 2007 }
const target = "10.0.0.5:2007"
const owner: RouteOwner = { formerTargets: [target], lastDomain: Option.some(app.domain), namesakes: [] }

const mine = plainFile.replace("\n  middlewares:\n", `${routersOf("app", app.domain)}\n  middlewares:\n`) +
  serviceOf("app", target)

const textOf = (outcome: ReturnType<typeof ensureRoute>) => {
  if (Either.isLeft(outcome)) throw new Error(JSON.stringify(outcome.left))
  return outcome.right._tag === "Edited" ? outcome.right.text : outcome.right.reason
}
const reasonOf = (outcome: ReturnType<typeof ensureRoute>) =>
  Either.match(outcome, {
    onLeft: (refusal) => ("reason" in refusal ? refusal.reason : ""),
    onRight: ({ _tag }) => _tag
  })

/** Additions to a route that others make by hand. */
const decorations = fc.record({
  rule: fc.constantFrom(
    "\"Host(`app.example.com`)\"",
    "Host(`app.example.com`) && PathPrefix(`/shop`)",
    "'(Host(\"App.example.com\") || Host(`www.example.com`)) && !ClientIP(`10.0.0.0/8`)'",
    "\"!Host(`app.example.com.evil`) && Host(\\\"app.example.com\\\", `shop.example`)\" # ours"
  ),
  router: fc.subarray([
    "      priority: 7\n",
    "      middlewares: [staff-only, compress@file]\n",
    "      # middlewares:\n      #   - later\n",
    "#     observability: {}\n",
    "      observability:\n        accessLogs: false\n"
  ]),
  tls: fc.constantFrom("", "        options: modern\n", "        domains:\n          - main: \"*.example.com\"\n"),
  url: fc.constantFrom(
    "\"http://10.0.0.5:2007\"",
    "http://10.0.0.5:2007/",
    "'h2c://10.0.0.5:2007' # port of the application"
  ),
  item: fc.constantFrom("", "            weight: 1\n", "            preservePath: true\n"),
  service: fc.subarray([
    "        passHostHeader: false\n",
    "        serversTransport: loose\n",
    "        healthCheck:\n          path: /up\n          interval: 10s\n",
    "        sticky:\n          cookie: { name: s }\n"
  ]),
  end: fc.constantFrom("\n", "\r\n"),
  isBare: fc.boolean()
})

const decorated = ({ end, isBare, item, router, rule, service, tls, url }: typeof decorations extends fc.Arbitrary<
  infer A
> ? A
  : never) =>
{
  const text = mine
    .replace("    app:\n      rule: \"Host(`app.example.com`)\"\n", `    app:\n      rule: ${rule}\n${router.join("")}`)
    .replace("        certResolver: letsencrypt\n    app-http", `        certResolver: letsencrypt\n${tls}    app-http`)
    .replace("    app-http:\n      rule: \"Host(`app.example.com`)\"\n", `    app-http:\n      rule: ${rule}\n`)
    .replace(`          - url: "http://${target}"\n`, `          - url: ${url}\n${item}${service.join("")}`)
    .replaceAll("\n", end)
  return isBare ? text.trimEnd() : text
}

describe("an own route with what others added to it", () => {
  it("keeps every byte but its address and its host", () => {
    fc.assert(
      fc.property(decorations, fc.constantFrom(2007, 2099), fc.constantFrom("app", "new"), (with_, port, name) => {
        const before = decorated(with_)
        const domain = `${name}.example.com`
        const expected = before.replaceAll(target, `10.0.0.5:${port}`)
          .replaceAll(/app\.example\.com(?!\.evil)/gi, (old) => name === "app" ? old : domain)
        const outcome = ensureRoute(before, { ...app, domain, port }, owner)
        expect(textOf(outcome)).toBe(expected === before ? "domain_routed" : expected)
        // A second run finds it done.
        expect(textOf(ensureRoute(expected, { ...app, domain, port }, owner))).toBe("domain_routed")
      }),
      { numRuns: inPart(400, 60) }
    )
  })

  it("is read and changed alike in whatever case its keys and matchers are written, as Traefik reads them", () => {
    const cases = [(key: string) => key.toUpperCase(), (key: string) => key.toLowerCase(), (key: string) => key]
    const keys =
      /(?<=^[ -]*)(?:http|routers|services|middlewares|rule|service|loadBalancer|servers|url)(?=:\s)|\bHost(?=\()/gm
    fc.assert(
      fc.property(decorations, fc.array(fc.nat(2), { minLength: 7, maxLength: 7 }), (with_, picks) => {
        const spell = (text: string) => {
          let at = 0
          return text.replaceAll(keys, (key) => cases[picks[at++ % picks.length] ?? 0]?.(key) ?? key)
        }
        const before = decorated(with_)
        const moved = { ...app, domain: "new.example.com", port: 2099 }
        const edited = textOf(ensureRoute(before, moved, owner))
        const odd = spell(before)
        expect(textOf(ensureRoute(odd, app, owner))).toBe("domain_routed")
        // The additions have no keys of Traefik's, so that the keys are the same ones in both.
        const mended = odd.replaceAll(target, "10.0.0.5:2099").replaceAll(/app\.example\.com(?!\.evil)/gi, moved.domain)
        expect(textOf(ensureRoute(odd, moved, owner))).toBe(mended)
        expect(spell(edited)).toBe(mended)
        const { routeName } = app
        const removed = deleteRoute(odd, routeName)
        expect([Either.isRight(removed), Either.isRight(deleteRoute(before, routeName))]).toEqual([true, true])
      }),
      { numRuns: inPart(200, 40) }
    )
  })

  it("gets its entries into sections in whatever case their names are written", () => {
    const odd = plainFile.replace("http:\n  routers:", "HTTP:\n  Routers:").replace("  services:", "  SERVICES:")
    const added = textOf(ensureRoute(odd, app, owner))
    expect(added).toContain(routersOf("app", app.domain))
    expect(added.match(/routers:|services:/gi)).toEqual(["Routers:", "SERVICES:"])
    expect(textOf(deleteRoute(added, "app"))).toBe(odd)
  })

  it("gets what it lacks, and nothing that was taken out of it", () => {
    const without = mine.replace(/ {4}app-http:\n(?: {6}.*\n)+/, "")
    expect(textOf(ensureRoute(without, { ...app, port: 2099 }, owner))).toBe(without.replace(target, "10.0.0.5:2099"))
    const served = mine.replace(routersOf("app", app.domain), "")
    const moved = { ...app, domain: "new.example.com" }
    expect(parse(textOf(ensureRoute(served, moved, owner)))).toEqual(parse(mine.replaceAll(app.domain, moved.domain)))
  })

  it("is not led away from a service that somebody put before it", () => {
    const guard = serviceOf("auth", "127.0.0.1:4180")
    const behind = mine.replaceAll("      service: app\n", "      service: auth\n") + guard
    expect(ensureRoute(behind, app, owner)).toMatchObject(Either.right({
      _tag: "Unchanged",
      reason: "routed_elsewhere",
      warnings: [expect.stringContaining("which points to 127.0.0.1:4180")]
    }))
    // The application moves behind it.
    expect(textOf(ensureRoute(behind, { ...app, port: 2099 }, owner))).toBe(behind.replace(target, "10.0.0.5:2099"))
    const alone = behind.replace(serviceOf("app", target), "")
    expect(reasonOf(ensureRoute(alone, { ...app, port: 2099 }, owner))).toContain(
      "its service \"auth\" has the servers"
    )
    const mirrored = mine.replaceAll("service: app\n", "service: blue\n").replace(
      "\n    app:\n      load",
      "\n    blue:\n      load"
    ) +
      "    both:\n      weighted:\n        services:\n          - name: blue\n"
    expect(reasonOf(ensureRoute(mirrored, { ...app, port: 2099 }, owner))).toContain("is also used by \"both\"")
  })

  it("is as it should be where its own router redirects, too", () => {
    const both = mine.replace("      service: app\n", "      middlewares: [redirect-to-https]\n      service: app\n")
    expect(textOf(ensureRoute(both, app, owner))).toBe("domain_routed")
  })

  it.each(["PathPrefix(`/`)", "Host(`a.example`) || Host(`b.example`)", "Host(`old.example.com`)"])(
    "keeps the rule %s of its plain router, which never had the domain",
    (rule) => {
      const text = mine.replace(/(app-http:\n {6}rule: ).*/, `$1${rule}`)
      expect(text).toContain(rule)
      expect(textOf(ensureRoute(text, { ...app, port: 2099 }, owner))).toBe(text.replace(target, "10.0.0.5:2099"))
      expect(textOf(ensureRoute(text, { ...app, domain: "new.example.com" }, owner))).toBe(
        text.replace("app.example.com", "new.example.com")
      )
    }
  )

  it("is left to a human where nothing tells which part of it is meant", () => {
    const second = `${mine}          - url: "http://10.0.0.6:2007"\n`
    const moved = { ...app, port: 2099 }
    // The own server among others is known by its former address.
    expect(textOf(ensureRoute(second, moved, owner))).toBe(second.replace(target, "10.0.0.5:2099"))
    expect(reasonOf(ensureRoute(second, moved, { ...owner, formerTargets: [] }))).toBe(
      "its service \"app\" has the servers 10.0.0.5:2007, 10.0.0.6:2007, and nothing says which is this application's: " +
        "change it to 10.0.0.5:2099 by hand, then run again"
    )
    const weighted = mine.replace(
      / {4}app:\n {6}loadBalancer:[^]*$/,
      "    app:\n      weighted:\n        services: []\n"
    )
    expect(reasonOf(ensureRoute(weighted, moved, owner))).toContain("has no server of its own")
    const www = mine.replace("      service: blog\n", "      service: app\n")
    expect(textOf(ensureRoute(www, moved, owner))).toBe(www.replace(target, "10.0.0.5:2099"))
    const shared = mine.replaceAll("service: app\n", "service: blog\n").replace("192.168.1.20:2010", target)
      .replace(serviceOf("app", target), "")
    expect(reasonOf(ensureRoute(shared, moved, owner))).toContain("\"blog\" is also used by \"blog\", \"blog-http\"")
    const merged = mine.replace("      service: blog\n", "      service: blog\n      priority: &five 5\n")
      .replace("      service: app\n", "      service: app\n      priority: *five\n")
    expect(textOf(ensureRoute(merged, moved, owner))).toBe(merged.replace(target, "10.0.0.5:2099"))
    const hosts = mine.replaceAll("Host(`app.example.com`)", "Host(`a.example`, `b.example`)")
    expect(reasonOf(ensureRoute(hosts, { ...app, domain: "new.example.com" }, owner))).toContain(
      "the router \"app\" serves a.example, b.example, and nothing says which is to become new.example.com"
    )
  })

  it.each([
    ["a template", `'http://{{ env "HOST" }}:2007'`, "is filled in by a template"],
    ["an anchor", `&here "http://${target}"`, "shares its values"],
    ["several lines", `>-\n              http://${target}`, "several lines"]
  ])("is left to a human where its address is written with %s", (_, url, reason) => {
    const text = mine.replace(`url: "http://${target}"`, `url: ${url}`)
    expect(reasonOf(ensureRoute(text, { ...app, port: 2099 }, owner))).toContain(reason)
  })
})

describe("an entry with lines that an editor commented out", () => {
  it.each([
    ["at the margin", "#      middlewares:\n#        - staff-only\n"],
    ["left of it", "   # middlewares:\n     #   - staff-only\n"],
    ["at its own depth", "    # middlewares:\n\n    #   - staff-only\n"]
  ])("%s is removed and moved whole", (_, comment) => {
    const text = mine.replace(
      "        - https\n      service: app\n",
      `        - https\n${comment}      service: app\n`
    )
    expect(text).toContain(comment)
    expect(textOf(deleteRoute(text, "app"))).toBe(textOf(deleteRoute(mine, "app")))
    expect(textOf(ensureRoute(text, { ...app, port: 2099 }, owner))).toBe(text.replace(target, "10.0.0.5:2099"))
  })

  it("keeps a comment that stands before the next one", () => {
    const text = mine.replace("    app-http:\n", "    # the other one\n    app-http:\n")
    const before = text.replace("    blog-http:\n", "    # of the blog\n    blog-http:\n")
    expect(textOf(deleteRoute(before, "app"))).toContain("    # of the blog\n")
  })
})

describe("an own route whose requests are shared out", () => {
  const forms = [
    [
      "weighted",
      "weighted:\n        services:\n          - { name: app-v1, weight: 9 }\n          - name: app-v2@file\n"
    ],
    [
      "weights of a stand-by",
      "failover:\n        service: both\n        fallback: app-v3\n" +
      "    both:\n      weighted:\n        services: [{ name: app-v1 }, { name: app-v2 }]\n"
    ],
    ["hashed", "highestRandomWeight:\n        services:\n          - name: app-v1\n          - name: app-v2\n"]
  ] as const
  const parts = serviceOf("app-v1", target) + serviceOf("app-v2", "10.0.0.5:2008")
  const sharing = (form: string) => mine.replace(serviceOf("app", target), `    app:\n      ${form}${parts}`)

  it.each(forms)("leads there by any of its parts (%s), and a new address goes to its own", (_, form) => {
    const text = sharing(form)
    expect(textOf(ensureRoute(text, app, owner))).toBe("domain_routed")
    expect(textOf(ensureRoute(text, { ...app, port: 2008 }, owner))).toBe("domain_routed")
    expect(textOf(ensureRoute(text, { ...app, port: 2099 }, owner))).toBe(text.replace(target, "10.0.0.5:2099"))
    const used = `${text}    other:\n      weighted:\n        services:\n          - name: app-v1\n`
    expect(reasonOf(ensureRoute(used, { ...app, port: 2099 }, owner))).toContain(
      "its service \"app-v1\" is also used by \"other\""
    )
  })

  it("is changed where only its stand-by is shared with others", () => {
    const text =
      `${sharing("failover:\n        service: app-v1\n        fallback: app-v2\n")}    other:\n      failover:\n` +
      "        service: blog\n        fallback: app-v2\n"
    expect(textOf(ensureRoute(text, { ...app, port: 2099 }, owner))).toBe(text.replace(target, "10.0.0.5:2099"))
  })

  it("is not removed without a word from those that share out to it", () => {
    const text = `${mine}    both:\n      mirroring:\n        service: blog\n        mirrors: [{ name: app }]\n`
    const removed = deleteRoute(text, "app")
    expect(Either.isRight(removed) && removed.right.warnings).toEqual(["the removed service is still used by \"both\""])
  })

  it("is found at once, however many routers and parts there are", () => {
    const parts = Array.from({ length: 3_000 }, (_, at) => `          - name: part${at}\n`).join("")
    const routers = Array.from(
      { length: 1_000 },
      (_, at) => `    r${at}:\n      rule: Host(\`a\`)\n      service: all\n`
    ).join("")
    const text = `http:\n  routers:\n${routers}  services:\n    all:\n      weighted:\n        services:\n${parts}`
    const proxy = Option.getOrThrow(Option.getRight(readProxy(text)))
    const services = readSectionEntries(proxy, "services")
    expect(listServingServices(services, "all")).toBe(listServingServices(services, "all"))
    expect(readRoutes(proxy).length).toBe(1_000)
  })

  it("does not lead to a mirror, to what has no weight, to a stand-by, or in circles", () => {
    const copies = sharing("mirroring:\n        service: app-v2\n        mirrors:\n          - name: app-v1\n")
    const none = sharing(
      "weighted:\n        services:\n          - { name: app-v1, weight: 0 }\n          - name: app-v2\n"
    )
    const circle = sharing("weighted:\n        services:\n          - name: app\n          - name: app-v2\n")
    const standBy = sharing("failover:\n        service: app-v2\n        fallback: app-v1\n")
    for (const text of [copies, none, circle, standBy]) {
      expect(textOf(ensureRoute(text, { ...app, port: 2008 }, owner))).toBe("domain_routed")
      expect(reasonOf(ensureRoute(text, app, owner))).toContain("10.0.0.5:2008")
    }
  })
})

describe("a TOML file", () => {
  it.each([
    "[http.routers.app]\n  rule = \"Host(`a`)\"\n",
    "# routes\r\n\r\n  [[tls.certificates]] # x\r\n",
    "http.routers.app.rule = \"x\"\n",
    "[http]\n"
  ])("is told as one: %j", (text) => {
    expect(reasonOf(ensureRoute(text, app))).toContain("it is TOML")
  })

  it.each(["[http, tcp]\n", "a b = c\n", "http: {}\n", "# [http]\nhttp:\n  routers: {}\n"])("is not %j", (text) => {
    expect(reasonOf(ensureRoute(text, app))).not.toContain("TOML")
  })
})
