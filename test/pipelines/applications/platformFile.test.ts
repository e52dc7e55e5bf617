import { Path } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { expect } from "vitest"
import { findEntry, maskEntries, readPlatformFile } from "../../../src/pipelines/applications/platformFile.ts"
import { CurrentCaller } from "../../../src/services/access/Caller.ts"
import { localFilesTest } from "../../../src/testing/LocalFilesTest.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"

const reading = (text: string) =>
  readPlatformFile("/srv/shop").pipe(
    Effect.provide(Layer.merge(localFilesTest({ "/srv/shop/platform.json": text }), Path.layer))
  )
const json = (value: unknown) => reading(JSON.stringify(value))

describe("entries for a caller", () => {
  const entries = [{ name: "shop", port: 3000, domain: null, env: { PASSWORD: "k3pt" }, notes: "by-token of Ann" }]
  const seenBy = (role: "viewer" | "operator") =>
    maskEntries(entries).pipe(
      Effect.provideService(CurrentCaller, { name: "Ann", role }),
      Effect.provide(settingsTest({ "platform.token": Redacted.make("by-token") }))
    )

  it.effect("have every key, and for a viewer no value of one without a meaning", () =>
    Effect.gen(function*() {
      const known = { name: "shop", port: 3000, domain: null }
      expect(yield* seenBy("viewer")).toEqual([{ ...known, env: "***", notes: "***" }])
      expect(yield* seenBy("operator")).toEqual([{ ...known, env: { PASSWORD: "k3pt" }, notes: "*** of Ann" }])
    }))
})

describe("readPlatformFile", () => {
  it.effect("takes one object for one entry, and keeps what it does not know", () =>
    Effect.gen(function*() {
      const entry = { name: "shop", notes: { a: [1] }, port: 3000, domain: null }
      const apps = Option.getOrThrow(yield* json(entry))
      expect(apps.map(({ raw }) => raw)).toEqual([entry])
      expect(apps[0]?.entry.port).toBe(3000)
    }))

  it.effect("has no file where there is none", () =>
    Effect.gen(function*() {
      for (const directory of ["/srv/other", "/srv/shop/platform.json", "work/shop", ".", "", "/srv/sh\0op"]) {
        expect(Option.isNone(yield* readPlatformFile(directory))).toBe(true)
      }
    }).pipe(
      Effect.provide(Layer.merge(localFilesTest({ "/srv/shop/platform.json": "[{\"name\":\"a\"}]" }), Path.layer))
    ))

  it.effect.each(["", " \n", "[]", "\uFEFF[]"])("is empty when the file is %j", (text) =>
    Effect.gen(function*() {
      expect(yield* reading(text)).toEqual(Option.some([]))
    }))

  it.effect("takes blank and null fields for absent ones", () =>
    Effect.gen(function*() {
      const blank = { buildpack: "", domain: "", server: "", repo: "", gitOwner: "", branch: "", publishDir: "" }
      const none = { buildpack: null, port: null, static: null, repo: null }
      expect(Option.getOrThrow(yield* json([{ name: "a", ...blank }, { name: "b", ...none }]))).toHaveLength(2)
    }))

  it.effect.each<[unknown, string]>([
    [3, "must be an object, or an array of objects"],
    [null, "must be an object, or an array of objects"],
    [["shop"], "entry 1 is not an object"],
    [[[]], "entry 1 is not an object"],
    [{ port: 3000 }, "entry 1: name is missing"],
    [[{ name: "a" }, { name: "" }], "entry 2: name is missing"],
    [{ name: "a\nb" }, "name must be one line"],
    [{ name: 7 }, "entry 1: name must be a string"],
    [
      [{ name: "a" }, { name: "shop", port: "3000" }],
      "entry 2 (\"shop\"): port must be a whole number from 1 to 65535"
    ],
    [{ name: "shop", port: 0 }, "entry 1 (\"shop\"): port must be a whole number from 1 to 65535"],
    [{ name: "shop", port: 70000 }, "port must be"],
    [{ name: "shop", port: 30.5 }, "port must be a whole number from 1 to 65535"],
    [{ name: "shop", static: "false" }, "entry 1 (\"shop\"): static must be true or false"],
    [{ name: "shop", buildpack: "nixpacks" }, "buildpack must be composestack, autopack or imagefile"],
    [{ name: "shop", domain: "https://shop.example.com" }, "domain must be a host name like app.example.com"],
    [{ name: "shop", domain: "a`) || Host(`b" }, "domain must be a host name"],
    [{ name: "shop", repo: "../x" }, "repo must be letters"],
    [{ name: "shop", repo: ".." }, "repo must be letters"],
    [{ name: "shop", gitOwner: "a/b" }, "gitOwner must be letters"],
    [{ name: "shop", branch: ["main"] }, "branch must be a string"],
    [{ port: "x", static: 1, name: "a" }, "port must be a whole number from 1 to 65535; static must be true or false"]
  ])("refuses %j", ([value, expected]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(json(value))
      expect(error.message).toMatch(/^\/srv\/shop\/platform\.json:1:\d+(: | must )/)
      expect(error.message).toContain(expected)
      expect(error.message.length).toBeLessThan(400)
      expect(error.status).toBe(422)
    }))

  it.effect("names the place of the first mistake", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(reading("[\n  { \"name\": \"a\" },\n  { \"name\": \"b\",\n    \"port\": 0 }\n]"))
      expect(error.message).toBe(
        "/srv/shop/platform.json:4:13: entry 2 (\"b\"): port must be a whole number from 1 to 65535"
      )
    }))

  it.effect("warns of fields that it does not know, and keeps them", () =>
    Effect.gen(function*() {
      const [app] = Option.getOrThrow(yield* json({ name: "shop", domian: "shop.test" }))
      expect(app?.raw).toEqual({ name: "shop", domian: "shop.test" })
      expect(app?.warnings).toEqual([
        "platform.json, entry 1 (\"shop\"): domian is not a known field. Did you mean \"domain\"? Known fields: " +
        "name, buildpack, port, domain, server, repo, gitOwner, branch, baseDirectory, composeLocation, static, " +
        "publishDir, service"
      ])
    }))

  it.effect("refuses what is not JSON", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(reading("{ name: shop }"))
      expect(error.message).toContain("/srv/shop/platform.json:1:3 is not valid JSON: a value must be")
    }))
})

describe("entryNamed", () => {
  const apps = ["a", "b"].map((name) => ({ raw: { name }, entry: { name }, warnings: [] }))
  it.each<[string | null | undefined, string | undefined]>([
    [undefined, "a"],
    [null, "a"],
    ["", undefined],
    ["b", "b"],
    ["c", undefined],
    ["B", undefined]
  ])("%j is %j", (name, expected) => {
    expect(Option.getOrUndefined(findEntry(apps, name))?.entry.name).toBe(expected)
  })
})
