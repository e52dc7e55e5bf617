import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Either, Layer } from "effect"
import type { MachineAddress } from "../../src/schema/servers.ts"
import { checkHostKey, previewHostKey, withConfirmed } from "../../src/services/hostKeyRules.ts"
import { computeFingerprint, type HostKey, HostKeys, parseHostKey } from "../../src/services/HostKeys.ts"
import { HostKeysLive } from "../../src/services/HostKeysLive.ts"
import { LocalFilesLive } from "../../src/services/local/LocalFiles.ts"
import { LocksLive } from "../../src/services/locks/Locks.ts"

const key = (text: string, type = "ssh-ed25519"): HostKey => {
  const name = Buffer.from(type)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(name.length)
  return parseHostKey(Buffer.concat([length, name, Buffer.from(text)]))
}

const main = { host: "main.lan", port: 22 }
const one = key("one")
const two = key("two")

const withFile = <A, E>(
  use: (file: string, live: Layer.Layer<HostKeys>) => Effect.Effect<A, E, FileSystem.FileSystem | Path.Path>
) =>
  Effect.gen(function*() {
    const directory = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
    const file = (yield* Path.Path).join(directory, "berth", "known_hosts")
    return yield* use(
      file,
      HostKeysLive(file).pipe(Layer.provide([LocksLive, LocalFilesLive]), Layer.provide(NodeContext.layer))
    )
  }).pipe(Effect.provide(NodeContext.layer))

const check = (server: MachineAddress, key: HostKey) => Effect.flatMap(HostKeys, (keys) => keys.check(server, key))

describe("checkHostKey", () => {
  it("trusts a server that is met for the first time", () => {
    const { answer, text } = checkHostKey("", main, one)
    expect(answer).toBe("remembered")
    expect(text).toBe(`main.lan ssh-ed25519 ${Buffer.from(one.blob).toString("base64")}\n`)
    expect(checkHostKey(text, { host: "MAIN.lan", port: 22 }, one).answer).toBe("known")
  })

  it("tells a changed key by both fingerprints", () => {
    const { text } = checkHostKey("", main, one)
    expect(checkHostKey(text, main, two)).toEqual({
      answer: { remembered: computeFingerprint(one.blob), presented: computeFingerprint(two.blob) },
      text
    })
  })

  it("takes a key of another type for a change too", () => {
    const { text } = checkHostKey("", main, one)
    expect(checkHostKey(text, main, key("one", "ssh-rsa")).answer).toHaveProperty("presented")
  })

  it("accepts any of several remembered keys", () => {
    const row = (each: HostKey) => `main.lan ${each.type} ${Buffer.from(each.blob).toString("base64")}`
    const text = `${row(one)}\n${row(key("r", "ssh-rsa"))} a comment\n`
    expect(checkHostKey(text, main, key("r", "ssh-rsa")).answer).toBe("known")
    expect(checkHostKey(text, main, one).answer).toBe("known")
  })

  it("matches host and port whole", () => {
    const { text } = checkHostKey("", main, one)
    const others = [
      { host: "main.lan", port: 2222 },
      { host: "ain.lan", port: 22 },
      { host: "main", port: 22 },
      { host: "main.lan.de", port: 22 },
      { host: "main.lan", port: 2222, via: main },
      { host: "gate.lan", port: 22, via: main }
    ]
    for (const other of others) {
      expect(checkHostKey(text, other, two).answer).toBe("remembered")
    }
    expect(checkHostKey("", { host: "main.lan", port: 2222 }, one).text).toMatch(/^\[main\.lan\]:2222 ssh-ed25519 /)
    expect(checkHostKey("", { host: "fe80::1%eth0", port: 2222 }, one).text).toMatch(/^\[fe80::1%eth0\]:2222 /)
  })

  it("keeps what a person wrote, and ends a last line first", () => {
    const before = "# mine\n\n@revoked x ssh-ed25519 AAAA\n|1|hash|hash ssh-rsa AAAA\nother,main.lan ssh-rsa AAAA"
    const { text } = checkHostKey(before, { host: "new.lan", port: 22 }, one)
    expect(text.startsWith(`${before}\nnew.lan ssh-ed25519 `)).toBe(true)
    expect(checkHostKey(before, main, one).answer).toHaveProperty("remembered")
  })

  it("lets no host name write a line of its own", () => {
    const { text } = checkHostKey("", { host: "a ssh-rsa AAAA\nb,c*", port: 22 }, one)
    expect(text.trimEnd().split("\n")).toHaveLength(1)
    expect(checkHostKey(text, { host: "a", port: 22 }, two).answer).toBe("remembered")
    expect(checkHostKey(text, { host: "a ssh-rsa AAAA\nb,c*", port: 22 }, two).answer).toHaveProperty("remembered")
  })
})

describe("the key of a server behind jump hosts", () => {
  const gate = { host: "gate.lan", port: 2222 }
  const routes: ReadonlyArray<MachineAddress> = [
    main,
    { ...main, via: gate },
    { ...main, via: { ...gate, via: main } },
    { ...main, via: { host: "other.lan", port: 22 } },
    { ...main, port: 2222, via: gate }
  ]

  it("is another one's than that of the same address on another route", () => {
    const all = routes.map((route, index) => {
      const { via: _, ...direct } = route
      const own = checkHostKey("", route, key(`of ${index}`))
      expect(own.answer).toBe("remembered")
      // So are they for an address with another port.
      expect(checkHostKey(own.text, { ...direct, port: 7 }, two).answer).toBe("remembered")
      return own.text
    }).join("")
    expect(all.split("\n").map((row) => row.split(" ")[0])).toEqual([
      "main.lan",
      "main.lan@[gate.lan]:2222",
      "main.lan@[gate.lan]:2222@main.lan",
      "main.lan@other.lan",
      "[main.lan]:2222@[gate.lan]:2222",
      ""
    ])
    for (const [index, route] of routes.entries()) {
      for (const [shown] of routes.entries()) {
        const { answer } = checkHostKey(all, route, key(`of ${shown}`))
        expect([index, shown, answer === "known"]).toEqual([index, shown, index === shown])
      }
    }
  })

  it("counts as changed on every route that it is not remembered for, whatever key is shown", () => {
    for (const first of routes) {
      const { text } = checkHostKey("", first, one)
      const confirmed = Either.getOrThrow(withConfirmed("", first, computeFingerprint(one.blob)))
      for (const route of routes.filter((each) => each !== first && each.port === first.port)) {
        for (const known of [text, confirmed]) {
          for (const shown of [one, two]) {
            const { answer, text: after } = checkHostKey(known, route, shown)
            expect([first, route, answer]).toEqual([first, route, {
              remembered: computeFingerprint(one.blob),
              presented: computeFingerprint(shown.blob),
              route: { remembered: expect.any(String), now: expect.any(String) }
            }])
            expect(after).toBe(known)
            expect(previewHostKey(known, route, shown)).toEqual(answer)
          }
        }
      }
    }
    const { answer } = checkHostKey(checkHostKey("", main, one).text, { ...main, via: { ...gate, via: main } }, one)
    expect(answer).toMatchObject({ route: { remembered: "directly", now: "through main.lan, [gate.lan]:2222" } })
  })

  it("is confirmed for another route by its fingerprint, or by that of the remembered one, which stays", () => {
    const [, behind = main] = routes
    const [first, second] = [computeFingerprint(one.blob), computeFingerprint(two.blob)]
    const before = checkHostKey("", main, one).text
    // Another key needs the one that is known to be meant; a caller without the right to the route gets neither.
    expect(Either.isLeft(withConfirmed(before, behind, second))).toBe(true)
    for (const replaces of [undefined, first]) {
      for (const shown of [first, second]) {
        const refused = Either.flip(withConfirmed(before, behind, shown, replaces, false))
        expect(Either.getOrThrow(refused)).toMatchObject({ remembered: first, route: { remembered: "directly" } })
      }
    }
    const same = Either.getOrThrow(withConfirmed(before, behind, first))
    expect([previewHostKey(same, main, one), previewHostKey(same, behind, one)]).toEqual(["known", "known"])
    const text = Either.getOrThrow(withConfirmed(before, behind, second, first))
    expect([previewHostKey(text, main, one), previewHostKey(text, behind, two)]).toEqual(["known", "known"])
    expect(previewHostKey(text, behind, one)).toHaveProperty("presented")
    const met = checkHostKey(text, behind, two).text
    const after = Either.getOrThrow(withConfirmed(met, behind, first, second))
    expect([previewHostKey(after, main, one), previewHostKey(after, behind, one)]).toEqual(["known", "known"])
  })
})

describe("the users of a server's jump hosts", () => {
  const behind = (user: string, own = "ann"): MachineAddress => ({
    host: "main.lan",
    port: 22,
    username: own,
    via: { host: "gate.lan", port: 2222, username: user }
  })

  it("belong to its route, and are added at their next use to a key that was stored without them", () => {
    const { username: _, ...nameless } = behind("deb")
    const stored = checkHostKey("", nameless, one).text
    expect(stored).not.toContain("# route")
    const { answer, text } = checkHostKey(stored, behind("deb"), one)
    expect([answer, text]).toEqual([
      "known",
      `${stored}# route main.lan@[gate.lan]:2222 deb@[gate.lan]:2222,ann@main.lan\n`
    ])
    expect(checkHostKey(text, behind("deb"), one)).toEqual({ answer: "known", text })
    expect(checkHostKey(text, behind("eve"), one)).toEqual({
      text,
      answer: {
        remembered: computeFingerprint(one.blob),
        presented: computeFingerprint(one.blob),
        route: { remembered: "through deb@[gate.lan]:2222", now: "through eve@[gate.lan]:2222" }
      }
    })
    // A log-in of another user of the server has a route of its own.
    const both = checkHostKey(text, behind("eve", "bob"), one)
    expect(both.answer).toBe("known")
    expect(checkHostKey(both.text, behind("eve", "bob"), one)).toEqual({ answer: "known", text: both.text })
    expect(checkHostKey(both.text, behind("eve"), one).answer).toHaveProperty("route")
  })

  it("are stored with the first key, and another one is confirmed beside them", () => {
    const met = checkHostKey("", behind("deb"), one)
    expect([met.answer, met.text.match(/# route/g)?.length]).toEqual(["remembered", 1])
    const print = computeFingerprint(one.blob)
    expect(Either.isLeft(withConfirmed(met.text, behind("eve"), print, undefined, false))).toBe(true)
    expect(Either.getOrThrow(withConfirmed(met.text, behind("deb"), print, undefined, false))).toBe(met.text)
    const text = Either.getOrThrow(withConfirmed(met.text, behind("eve"), print))
    for (const user of ["deb", "eve"]) expect(checkHostKey(text, behind(user), one).answer).toBe("known")
  })

  it("write no line of their own", () => {
    const odd = { ...behind("deb,x@y\n# route z"), username: "an n" }
    const { text } = checkHostKey("", odd, one)
    expect(text.trimEnd().split("\n")).toHaveLength(2)
    expect(checkHostKey(text, odd, one)).toEqual({ answer: "known", text })
  })
})

describe("withConfirmed", () => {
  const text = Either.getOrThrow(withConfirmed("# mine", { host: "Main.lan", port: 22 }, computeFingerprint(one.blob)))

  it("insists on the confirmed key when the server is met for the first time", () => {
    expect(text).toBe(`# mine\n# confirmed main.lan ${computeFingerprint(one.blob)}\n`)
    expect(checkHostKey(text, main, two)).toEqual({
      answer: { remembered: computeFingerprint(one.blob), presented: computeFingerprint(two.blob) },
      text
    })
    expect(previewHostKey(text, main, one)).toBe("known")
    expect(previewHostKey(text, main, two)).toHaveProperty("presented")
    expect(previewHostKey(text, { host: "main.lan", port: 2222 }, two)).toBe("new")
  })

  it("is done with once the key is remembered", () => {
    const met = checkHostKey(text, main, one)
    expect(met).toEqual({
      answer: "remembered",
      text: `# mine\nmain.lan ssh-ed25519 ${Buffer.from(one.blob).toString("base64")}\n`
    })
    expect(withConfirmed(met.text, main, computeFingerprint(one.blob))).toEqual(Either.right(met.text))
  })

  it("takes the place of a remembered key that is named, and of no other", () => {
    const row = (names: string) => `${names} ssh-ed25519 ${Buffer.from(one.blob).toString("base64")}\n`
    const before = `# mine\n${row("other.lan")}${row("main.lan")}${row("main.lan,other.lan")}${row("[main.lan]:2222")}`
    const [old, next] = [computeFingerprint(one.blob), computeFingerprint(two.blob)]
    for (const named of [undefined, next, "SHA256:another"]) {
      expect(withConfirmed(before, main, next, named)).toEqual(
        Either.left({ remembered: `${old} or ${old}`, presented: next })
      )
    }
    const after = Either.getOrThrow(withConfirmed(before, main, next, old))
    expect(after).toBe(
      `# mine\n${row("other.lan")}${row("other.lan")}${row("[main.lan]:2222")}# confirmed main.lan ${next}\n`
    )
    expect(previewHostKey(after, main, two)).toBe("known")
    expect(previewHostKey(after, main, one)).toHaveProperty("presented")
  })

  it("holds the last one that was confirmed", () => {
    const again = withConfirmed(text, main, computeFingerprint(two.blob))
    expect(again).toEqual(Either.right(`# mine\n# confirmed main.lan ${computeFingerprint(two.blob)}\n`))
  })
})

describe("HostKeysLive", () => {
  it.scopedLive("insists on a confirmed key across restarts, in a private file", () =>
    withFile((file, live) =>
      Effect.gen(function*() {
        const confirm = Effect.flatMap(HostKeys, (keys) => keys.confirm(main, computeFingerprint(one.blob)))
        yield* Effect.provide(confirm, live)
        if (process.platform !== "win32") {
          expect((yield* (yield* FileSystem.FileSystem).stat(file)).mode & 0o777).toBe(0o600)
        }
        expect(yield* Effect.provide(check(main, two), live)).toHaveProperty("presented")
        expect(yield* Effect.provide(check(main, one), live)).toBe("remembered")
      })
    ))

  it.scopedLive("remembers across restarts, in a private file", () =>
    withFile((file, live) =>
      Effect.gen(function*() {
        expect(yield* Effect.provide(check(main, one), live)).toBe("remembered")
        expect(yield* Effect.provide(check(main, one), live)).toBe("known")
        const files = yield* FileSystem.FileSystem
        if (process.platform !== "win32") expect((yield* files.stat(file)).mode & 0o777).toBe(0o600)
        expect(yield* files.readDirectory((yield* Path.Path).dirname(file))).toEqual(["known_hosts"])
        expect(yield* Effect.provide(Effect.flatMap(HostKeys, (keys) => keys.knownTypes(main)), live))
          .toEqual(["ssh-ed25519"])
      })
    ))

  it.scopedLive.skipIf(process.platform === "win32")(
    "keeps a link to where they are kept, and what they say",
    () =>
      withFile((file, live) =>
        Effect.gen(function*() {
          const files = yield* FileSystem.FileSystem
          const path = yield* Path.Path
          const real = path.join(path.dirname(path.dirname(file)), "real")
          yield* files.writeFileString(real, "other.lan ssh-ed25519 AAAA\n", { mode: 0o600 })
          yield* files.makeDirectory(path.dirname(file))
          yield* files.symlink(real, file)
          expect(yield* Effect.provide(check(main, one), live)).toBe("remembered")
          expect(yield* files.readLink(file)).toBe(real)
          expect(yield* files.readFileString(real)).toMatch(/^other\.lan .*\nmain\.lan ssh-ed25519 /)
        })
      )
  )

  it.scopedLive("loses no entry when many servers are met at once, by several processes' worth of layers", () =>
    withFile((file, live) =>
      Effect.gen(function*() {
        const meet = (index: number) =>
          Effect.provide(check({ host: `host${index}`, port: 22 }, one), Layer.fresh(live))
        yield* Effect.forEach(Array.from({ length: 24 }, (_, index) => index), meet, { concurrency: 24 })
        const text = yield* (yield* FileSystem.FileSystem).readFileString(file)
        expect(text.trimEnd().split("\n")).toHaveLength(24)
      })
    ))

  it.scopedLive("remembers the first of two keys that are shown at once", () =>
    withFile((_, live) =>
      Effect.gen(function*() {
        const answers = yield* Effect.forEach([one, two], (each) => check(main, each), { concurrency: 2 })
        expect(answers.filter((answer) => answer === "remembered")).toHaveLength(1)
        expect(answers.filter((answer) => typeof answer === "object")).toHaveLength(1)
      }).pipe(Effect.provide(live))
    ))

  it.scopedLive("says which file cannot be used", () =>
    withFile((file, live) =>
      Effect.gen(function*() {
        yield* (yield* FileSystem.FileSystem).makeDirectory(file, { recursive: true })
        const error = yield* Effect.flip(Effect.provide(check(main, one), live))
        expect(error.message).toContain(file)
      })
    ))
})
