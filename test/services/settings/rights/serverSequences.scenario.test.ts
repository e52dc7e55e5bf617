import { expect, it } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import type { ServerInput } from "../../../../src/schema/servers.ts"
import type { ServerAccess } from "../../../../src/schema/ssh.ts"
import { CurrentCaller } from "../../../../src/services/access/Caller.ts"
import type { Settings } from "../../../../src/services/settings/Settings.ts"
import { patience } from "../../../fixtures/patience.ts"
import { localSettings, settingsWorkshop } from "../../../fixtures/settingsIn.ts"
import { inPart } from "../../../fixtures/thorough.ts"

const asOperator = Effect.provideService(CurrentCaller, { name: "ann", role: "operator" })

const stored = [
  "servers:",
  "  - { id: gate, name: Gate, host: gate.invalid, username: deb, password: of-gate, sudoPassword: of-root }",
  "  - { id: inner, name: Inner, host: 10.0.0.5, username: ann, password: of-inner, jump: deb@gate.invalid }",
  "  - { id: keyed, name: Keyed, host: k.invalid, username: k, privateKey: ~/.ssh/id_k, passphrase: of-key }",
  "  - { id: far, name: Far, host: far.invalid, username: m, password: of-far, jump: \"deb@gate.invalid,x@new.invalid\" }",
  "  - { id: evil, name: Evil, host: evil.invalid, port: 2022, username: eve, password: eves }",
  ""
].join("\n")

const known: ReadonlyArray<ServerInput> = [
  { id: "gate", name: "Gate", host: "gate.invalid", username: "deb" },
  { id: "inner", name: "Inner", host: "10.0.0.5", username: "ann" },
  { id: "keyed", name: "Keyed", host: "k.invalid", username: "k" },
  { id: "far", name: "Far", host: "far.invalid", username: "m" }
]
const his = Redacted.make("his")
const there = { host: "evil.invalid", port: 2022 }
const edits: ReadonlyArray<Partial<ServerInput>> = [
  there,
  { port: 2022 },
  { username: "eve" },
  { host: "GATE.invalid", username: "deb" },
  { jump: null },
  { jump: "eve@evil.invalid:2022" },
  { jump: "deb@gate.invalid,eve@evil.invalid:2022" },
  { password: his },
  { password: null },
  { ...there, password: his },
  { ...there, sudoPassword: his },
  { jump: "eve@evil.invalid:2022", password: his },
  { privateKey: "~/.ssh/id_k", ...there }
]
const added: ReadonlyArray<ServerInput> = [
  { name: "G2", host: "gate.invalid", username: "deb", jump: "eve@evil.invalid:2022" },
  { name: "G3", host: "gate.invalid", username: "deb", password: his },
  { name: "K2", host: "z.invalid", username: "k", privateKey: "~/.ssh/id_k" },
  { name: "New", host: "new.invalid", username: "x", password: his, jump: "eve@evil.invalid:2022" },
  { id: "evil", name: "Evil", host: "gate.invalid", username: "deb", password: his },
  { id: "evil", name: "Evil", ...there, username: "eve", jump: "deb@gate.invalid" }
]

type Change = (settings: Settings["Type"]) => Effect.Effect<unknown, unknown>

const changes: ReadonlyArray<readonly [words: string, change: Change]> = [
  ...[...known.flatMap((server) => edits.map((edit) => ({ ...server, ...edit }))), ...added].map(
    (input): readonly [string, Change] => [JSON.stringify(input), (settings) => settings.saveServer(input)]
  ),
  ...["gate", "inner", "far", "evil"].map(
    (id): readonly [string, Change] => [`remove ${id}`, (settings) => settings.removeServer(id)]
  )
]

const routeOf = ({ host, port, via }: ServerAccess): string =>
  `${via === undefined ? "" : `${routeOf(via)} > `}${host.toLowerCase()}:${port}`

const listSecrets = (server: ServerAccess): ReadonlyArray<string> => {
  const { passphrase, password, sudoPassword } = server.credentials
  return [
    ...[password, sudoPassword, passphrase].flatMap((secret) =>
      secret === undefined ? [] : [`${Redacted.value(secret)} to ${routeOf(server)}`]
    ),
    ...server.via === undefined ? [] : listSecrets(server.via)
  ]
}

/** Stored secrets that connections send, each with the route that it takes. */
const listSent = (settings: Settings["Type"]) =>
  Effect.gen(function*() {
    const servers = yield* Effect.forEach(yield* settings.servers, ({ id }) => Effect.option(settings.server(id)))
    return servers.flatMap(Option.toArray).flatMap(listSecrets).filter((sent) => sent.startsWith("of-"))
  })

it.scoped(
  "sends no stored secret of a server another way, in any sequence of two changes by a token",
  () =>
    Effect.gen(function*() {
      const { read, settings, write } = yield* settingsWorkshop(stored)
      const allowed = new Set(yield* listSent(settings))
      expect(allowed.size).toBeGreaterThan(4)
      const seen = new Set<string>()
      const wrong: Array<string> = []
      const make = (change: Change) => Effect.ignore(asOperator(change(settings)))
      for (const [at, [first, change]] of changes.entries()) {
        yield* write(stored)
        yield* make(change)
        const once = yield* read
        // A refused first change leaves the file as it was: one of these stands for all.
        if (at > 0 && once === stored) continue
        // In part each second one after a sixth of the first ones.
        for (const [second, next] of inPart(changes, changes.filter((_, index) => (index + at) % 6 === 0))) {
          yield* write(once)
          yield* make(next)
          const twice = yield* read
          if (seen.has(twice)) continue
          seen.add(twice)
          const sent = (yield* listSent(settings)).filter((each) => !allowed.has(each))
          if (sent.length > 0) wrong.push(`${first}; ${second}: ${sent.join(", ")}`)
        }
      }
      expect(wrong).toEqual([])
      expect(seen.size).toBeGreaterThan(10)
    }).pipe(Effect.provide(localSettings)),
  300_000 * patience
)
