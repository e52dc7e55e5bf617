import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { computeFingerprint } from "../../src/services/HostKeys.ts"
import { type FakeSsh, fakeSsh } from "../fixtures/network/fakeSsh.ts"
import { patience } from "../fixtures/patience.ts"
import { settingsFileWith, startService } from "../fixtures/programs/service.ts"
import { inPart, inTurn } from "../fixtures/thorough.ts"

const tokens = "http:\n  tokens:\n    - { name: Ann, token: token-of-ann-0123456789, role: operator }\n" +
  "    - { name: Vic, token: token-of-vic-0123456789, role: viewer }\n"
const callers = [
  { who: "an operator's token", config: tokens, token: "token-of-ann-0123456789", status: 403 },
  { who: "a viewer's token", config: tokens, token: "token-of-vic-0123456789", status: 403 },
  { who: "the local user", config: "", token: undefined, status: 200 }
]

/** The first jump host of `inner` is no stored server; that of `deep` is. */
const servers = [
  "servers:",
  "  - { id: inner, name: Inner, host: 10.0.0.5, username: ann, password: of-inner, jump: deb@gate.invalid }",
  "  - { id: door, name: Door, host: door.invalid, username: deb, password: of-door }",
  "  - { id: deep, name: Deep, host: 10.0.0.6, username: ann, password: of-deep, jump: deb@door.invalid }",
  "  - { id: far, name: Far, host: 10.0.0.7, username: ann, password: of-far, jump: 'deb@gate.invalid,deb@mid.invalid:2200' }",
  "  - { id: evil, name: Evil, host: evil.invalid, port: 2022, username: eve, password: of-evil }",
  ""
].join("\n")

const jump = "eve@evil.invalid:2022"
const gates = ["gate.invalid", "GATE.invalid", "Gate.Invalid"]
const mids = ["mid.invalid", "MID.invalid"]
const doors = ["door.invalid", "DOOR.invalid", "Door.Invalid"]
const edits: ReadonlyArray<readonly [method: string, path: string, body?: object]> = [
  ...inTurn(gates, 1).flatMap((host) => [
    ["POST", "/api/servers", { name: "Gate", host, username: "deb", jump }] as const,
    ["POST", "/api/servers", { name: "Gate", host, port: 22, username: "deb", password: "mine" }] as const,
    ["PUT", "/api/servers/evil", { name: "Evil", host, username: "deb", jump: "deb@door.invalid" }] as const,
    ["PUT", "/api/servers/Evil", { name: "Evil", host, port: 22, username: "deb", password: "mine" }] as const
  ]),
  ...inTurn(doors, 2).flatMap((host) => [
    ["POST", "/api/servers", { id: "door", name: "Door", host, username: "deb", jump }] as const,
    ["PUT", "/api/servers/door", { name: "Door", host, username: "deb", jump }] as const,
    ["PUT", "/api/servers/Door", { name: "Door", host, port: 2222, username: "deb", password: "mine" }] as const,
    ["PUT", "/api/servers/door", { name: "Door", host, username: "eve", password: "mine" }] as const
  ]),
  // The second of two jump hosts is another machine than the same address without the first.
  ...inTurn(mids, 1).flatMap((host) => [
    ["POST", "/api/servers", {
      name: "Mid",
      host,
      port: 2200,
      username: "deb",
      jump: "deb@gate.invalid",
      password: "mine"
    }] as const,
    ["PUT", "/api/servers/evil", { name: "Evil", host, port: 2200, username: "deb", jump: "deb@gate.invalid" }] as const
  ]),
  ["POST", "/api/servers", { newId: "gate", name: "Gate", host: "gate.invalid", username: "deb", jump }],
  ["POST", "/api/servers", {
    newId: "gate",
    uniqueName: true,
    name: "Gate",
    host: "gate.invalid",
    username: "deb",
    jump
  }],
  ["POST", "/api/servers", { id: "door", name: "Door", host: "door.invalid", port: 22, username: "deb", jump }],
  ["POST", "/api/servers", { id: "door", name: "Door", host: "door.invalid.", username: "deb", password: "mine" }],
  ["PUT", "/api/servers/door", { name: "Door", host: "door.invalid", port: 2222, username: "deb" }],
  ["DELETE", "/api/servers/door"],
  ["DELETE", "/api/servers/Door"],
  ["DELETE", "/api/servers/DOOR"]
]

describe.each(callers)("an edit by $who that changes the route of another server", ({ config, status, token }) => {
  it.scopedLive(`is answered with ${status} in every spelling and by every method`, () =>
    Effect.gen(function*() {
      const before = servers + config
      const file = yield* settingsFileWith(before)
      const knownHosts = join(dirname(file), "berth.known_hosts")
      const { request } = yield* startService(file)
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
      const print = computeFingerprint(Buffer.from("one"))
      const found: Array<unknown> = []
      for (const [method, path, body] of edits) {
        for (const query of method === "DELETE" ? [""] : ["?plan=true", ""]) {
          const sent = body === undefined || query !== "" ? body : { ...body, hostKey: print }
          const reply = yield* request(method, `${path}${query}`, sent, headers)
          const written = readFileSync(file, "utf8") !== before || existsSync(knownHosts)
          const wanted = status === 200 && query === ""
          if (reply.status !== status || written !== wanted) {
            found.push([method, path, query, body, reply.status, written])
          }
          writeFileSync(file, before)
          rmSync(knownHosts, { force: true })
        }
      }
      expect(found).toEqual([])
    }), 60_000 * patience)
})

const operator = { authorization: "Bearer token-of-ann-0123456789" }

describe("the credentials of a server behind a jump host", () => {
  const shy = fakeSsh({ wantsPassword: true })
  const live = Effect.gen(function*() {
    const [gate, mid, inner, evil] = [yield* shy, yield* shy, yield* shy, yield* shy]
    const at = (ssh: FakeSsh) => `127.0.0.1:${ssh.access.port}`
    const text = [
      "servers:",
      `  - { id: inner, name: Inner, host: 127.0.0.1, port: ${inner.access.port}, username: ann, password: of-inner, jump: deb@${
        at(gate)
      } }`,
      `  - { id: gate, name: Gate, host: 127.0.0.1, port: ${gate.access.port}, username: deb, password: of-gate }`,
      `  - { id: far, name: Far, host: 127.0.0.1, port: ${inner.access.port}, username: bob, password: of-far, ` +
      `jump: "deb@${at(gate)},deb@${at(mid)}" }`,
      `  - { id: mid, name: Mid, host: 127.0.0.1, port: ${mid.access.port}, username: deb, password: of-mid, jump: deb@${
        at(gate)
      } }`,
      ""
    ].join("\n")
    const file = yield* settingsFileWith(text + tokens)
    const { request } = yield* startService(file)
    const jump = `eve@${at(evil)}`
    const server = (ssh: FakeSsh, more: object) => ({
      name: "Mine",
      host: "127.0.0.1",
      port: ssh.access.port,
      username: "deb",
      ...more
    })
    const edits: ReadonlyArray<readonly [method: string, path: string, body?: object]> = [
      ["POST", "/api/servers", server(gate, { jump, password: "mine" })],
      ["POST", "/api/servers", server(gate, { newId: "gate2", jump, agent: false })],
      ["POST", "/api/servers", server(gate, { id: "gate", jump })],
      ["PUT", "/api/servers/gate", server(gate, { jump })],
      ["PUT", "/api/servers/gate", server(evil, { password: "mine" })],
      ["PUT", "/api/servers/mid", server(mid, { jump: `${jump},deb@${at(gate)}` })],
      ["PUT", "/api/servers/mid", server(mid, { jump, password: "mine" })],
      ["PUT", "/api/servers/inner", {
        name: "Inner",
        host: "127.0.0.1",
        port: inner.access.port,
        username: "ann",
        jump
      }],
      ["PUT", "/api/servers/inner", { name: "Inner", host: "127.0.0.1", port: evil.access.port, username: "ann" }],
      ["PUT", "/api/servers/far", {
        name: "Far",
        host: "127.0.0.1",
        port: inner.access.port,
        username: "bob",
        jump: `${jump},deb@${at(mid)}`
      }],
      ["DELETE", "/api/servers/gate"],
      ["DELETE", "/api/servers/mid"],
      ["PATCH", "/api/settings", { settings: { servers: [server(gate, { jump })] } }],
      ["PATCH", "/api/settings", { settings: { "servers[1].jump": jump, "servers.1.host": "evil.invalid" } }]
    ]
    const use = (headers: Readonly<Record<string, string>>) =>
      Effect.forEach(
        ["inner", "gate", "far", "mid"],
        (id) => request("GET", `/api/servers/${id}/containers`, undefined, headers)
      )
    return { edits, evil, file, inner, request, text: text + tokens, use }
  })

  it.scopedLive("are sent by no edit of a token through or to another machine", () =>
    Effect.gen(function*() {
      const { edits, evil, file, inner, request, text, use } = yield* live
      yield* use(operator)
      expect(yield* inner.made).toBeGreaterThan(0)
      for (const [method, path, body] of inPart(edits, edits.filter((_, at) => at % 2 === 1))) {
        const reply = yield* request(method, path, body, operator)
        // An operator may move a server that nobody else needs, without what is stored for it.
        const isOwn = /\/(?:inner|far)$/.test(path)
        expect([method, path, reply.status]).toEqual([
          method,
          path,
          isOwn ? expect.any(Number) : expect.toSatisfy((status: number) => status >= 400 && status < 500)
        ])
        yield* use(operator)
        const sent = (yield* evil.passwords).filter((password) => password.startsWith("of-"))
        expect([method, path, sent]).toEqual([method, path, []])
        const now = readFileSync(file, "utf8")
        if (!isOwn) expect([method, path, now]).toEqual([method, path, text])
        if (reply.status === 200) expect(now).not.toContain(path.endsWith("far") ? "of-far" : "of-inner")
        writeFileSync(file, text)
      }
    }), 120_000 * patience)

  it.scopedLive(
    "follow an edit of the file by the machine's user, so that the test sees what it looks for",
    () =>
      Effect.gen(function*() {
        const { evil, file, text, use } = yield* live
        writeFileSync(
          file,
          text.replaceAll(
            /port: \d+, username: deb, password: of-gate/g,
            `port: ${evil.access.port}, username: deb, password: of-gate`
          )
        )
        yield* use(operator)
        expect(yield* evil.passwords).toContain("of-gate")
      }),
    60_000 * patience
  )
})
