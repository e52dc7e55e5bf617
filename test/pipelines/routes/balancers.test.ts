import { describe, expect, it } from "@effect/vitest"
import { Either } from "effect"
import { parse } from "yaml"
import {
  addServers,
  checkMoves,
  findRoutesToPort,
  hasServer,
  type PortMove,
  removeServers
} from "../../../src/pipelines/routes/balancers.ts"

const moves: ReadonlyArray<PortMove> = [{ hosts: ["10.0.0.5", "[fd00::5]"], from: 2008, to: 30001 }]
const back = moves.map(({ from, hosts, to }) => ({ hosts, from: to, to: from }))

const around = (servers: string) =>
  `# kept
http:
  routers:
    app:
      rule: "Host(\`app.example.com\`, \`www.example.com\`)"
      service: app
    other:
      rule: "Host(\`other.example.com\`)"
      service: other
  services:
    app:
      loadBalancer:
        sticky: { cookie: { name: lb } }
        healthCheck: { path: /health }
${servers}
    other:
      loadBalancer:
        servers:
          - url: "http://10.0.0.6:2008"
`
const files: ReadonlyArray<readonly [name: string, text: string]> = [
  ["as Berth writes it", around("        servers:\n          - url: \"http://10.0.0.5:2008\"")],
  ["without quotes", around("        servers:\n          - url: http://10.0.0.5:2008/")],
  ["in single quotes, at the indent of its key", around("        servers:\n        - url: 'http://10.0.0.5:2008'")],
  [
    "with comments and options",
    around(
      "        servers:\n          # first\n          - url: \"http://10.0.0.5:2008\" # main\n            weight: 2\n            # last"
    )
  ],
  ["options first", around("        servers:\n          - weight: 2\n            url: \"http://10.0.0.5:2008\"")],
  [
    "between others",
    around(
      "        servers:\n          - url: \"http://10.0.0.7:1\"\n          - url: \"http://10.0.0.5:2008\"\n          - url: \"http://10.0.0.8:1\""
    )
  ],
  ["in flow style", around("        servers: [{ url: \"http://10.0.0.5:2008\" }]")],
  [
    "in flow style with others",
    around("        servers: [{url: \"http://10.0.0.7:1\"}, {url: \"http://10.0.0.5:2008\"}]")
  ],
  ["IPv6", around("        servers:\n          - url: \"http://[fd00::5]:2008\"")],
  ["CRLF", around("        servers:\n          - url: \"http://10.0.0.5:2008\"").replaceAll("\n", "\r\n")],
  [
    "without a last line break",
    `http:
  routers: {}
  services:
    app:
      loadBalancer:
        servers:
          - url: "http://10.0.0.5:2008"`
  ],
  ["a byte order mark", `\uFEFF${around("        servers:\n          - url: \"http://10.0.0.5:2008\"")}`]
]

const textOf = (edit: ReturnType<typeof addServers>) =>
  Either.match(edit, {
    onLeft: (refusal) => `refused: ${JSON.stringify(refusal)}`,
    onRight: (done) => done._tag === "Edited" ? done.text : "unchanged"
  })
const urls = (text: string): ReadonlyArray<string> =>
  parse(text).http.services.app.loadBalancer.servers.map(({ url }: { readonly url: string }) => url)

describe("the servers of load balancers", () => {
  for (const [name, text] of files) {
    it(`moves to a bridge and back, byte for byte: ${name}`, () => {
      const both = textOf(addServers(text, moves))
      const before = urls(text)
      const bridged = before.map((url) => url.replace("2008", "30001"))
      expect(urls(both)).toEqual(
        before.flatMap((url) => url.includes("2008") ? [url.replace("2008", "30001"), url] : [url])
      )
      expect(textOf(addServers(both, moves))).toBe("unchanged")
      const moved = textOf(removeServers(both, moves))
      expect(urls(moved)).toEqual(bridged)
      expect(hasServer(moved, ["10.0.0.5", "[fd00::5]"], 2008)).toBe(false)
      const again = textOf(addServers(moved, back))
      expect(textOf(removeServers(again, back))).toBe(text)
      expect(checkMoves(text, moves)).toEqual(Either.right(undefined))
      expect(parse(moved).http.services.other).toEqual(parse(text).http.services.other)
    })
  }

  it("leads back from every state in between", () => {
    const text = files[0]?.[1] ?? ""
    const both = textOf(addServers(text, moves))
    expect(textOf(addServers(both, back))).toBe("unchanged")
    expect(textOf(removeServers(both, back))).toBe(text)
    expect(textOf(addServers(text, back))).toBe("unchanged")
    expect(textOf(removeServers(text, back))).toBe("unchanged")
  })

  for (
    const [name, servers] of [
      ["an alias", "        servers:\n          - &one { url: \"http://10.0.0.5:2008\" }"],
      ["an item on the line of its neighbour's end", "        servers: [\n          {url: \"http://10.0.0.5:2008\"}]"],
      ["a port that need not be written", "        servers:\n          - url: \"http://10.0.0.5:80\""]
    ] as const
  ) {
    it(`is refused or restored where it is written with ${name}`, () => {
      const text = around(servers)
      const from = servers.includes(":80\"") ? 80 : 2008
      const checked = checkMoves(text, moves.map((move) => ({ ...move, from })))
      if (Either.isRight(checked)) expect(name).toContain("neighbour")
      else expect(checked.left._tag).toBe("Unfit")
    })
  }

  it("names the routes that lead to a port of a server", () => {
    const text = files[0]?.[1] ?? ""
    expect(findRoutesToPort(text, ["10.0.0.5"], 2008)).toEqual(Either.right([
      { host: "app.example.com", routeName: "app", address: "10.0.0.5" },
      { host: "www.example.com", routeName: "app", address: "10.0.0.5" }
    ]))
    expect(findRoutesToPort(text, ["10.0.0.9"], 2008)).toEqual(Either.right([]))
  })
})
