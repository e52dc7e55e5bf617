import { describe, expect, it } from "@effect/vitest"
import { Effect, Either, Layer, Option, Schema } from "effect"
import { findBuiltArchive, isBuiltRecord } from "../../../src/pipelines/archive/builtArchive.ts"
import { decideTransfer, readArchive } from "../../../src/pipelines/archive/transfer.ts"
import { build } from "../../../src/pipelines/build.ts"
import { findServerBuilders } from "../../../src/pipelines/build/buildAtServer.ts"
import { planContainers } from "../../../src/pipelines/deploy/plan.ts"
import { findLostBuilds } from "../../../src/pipelines/deploy/preflight.ts"
import { formatBuildWords, parseBuilt, parseFound } from "../../../src/remote/build.ts"
import { ContainerConfig } from "../../../src/schema/projects.ts"
import { Settings } from "../../../src/services/settings/Settings.ts"
import { settingsTest, storedServer } from "../../../src/testing/SettingsTest.ts"
import { type SshAnswer, SshAsked, sshTest } from "../../../src/testing/SshTest.ts"
import { memoryWorld } from "../../layers/worlds/memoryWorld.ts"

const directory = "/srv/shop"
const one = storedServer({ id: "1", name: "web-1" })
const two = storedServer({ id: "2", name: "web-2" })
const id = `sha256:${"a".repeat(64)}`
const layer = `sha256:${"b".repeat(64)}`
const answer = { stdout: "Step 1/2\nStep 2/2\n", stderr: `built ${id} linux/amd64 ["${layer}"]\n` }

const worldOf = (
  config: object,
  answers: Readonly<Record<string, SshAnswer>> = { "building web": answer },
  more = ""
) =>
  Layer.mergeAll(
    memoryWorld({
      files: {
        [`${directory}/compose.yml`]: [
          "services:",
          "  web:",
          "    build: { context: web, target: app, args: { TOKEN: \"a'b\", FOO-BAR: x, PATH: /evil } }",
          more
        ].join("\n"),
        [`${directory}/container.json`]: JSON.stringify(config),
        [`${directory}/web/Dockerfile`]: "FROM scratch AS app"
      }
    }),
    sshTest(answers),
    Layer.effect(Settings, Effect.map(Settings, (settings) => ({ ...settings, file: "/settings/berth.yaml" }))).pipe(
      Layer.provide(settingsTest({}, [one, two]))
    )
  )

describe("findServerBuilders", () => {
  const find = (config: ContainerConfig, target?: typeof one) =>
    findServerBuilders(directory, config, target).pipe(
      Effect.map((builders) => builders.map(({ keeps, server }) => [server.name, keeps])),
      Effect.provide(worldOf({}))
    )
  it.effect("chooses here, the target, or a server by id or name", () =>
    Effect.gen(function*() {
      expect(yield* find({})).toEqual([])
      expect(yield* find({ build: { at: "here" } }, one)).toEqual([])
      expect(yield* find({ build: { at: "target" } }, one)).toEqual([["web-1", true]])
      expect(yield* find({ serverId: "web-2", build: { at: "target" } })).toEqual([["web-2", true]])
      expect(yield* find({ targets: [{ server: "1" }, { server: "web-2" }, { server: "1" }], build: { at: "target" } }))
        .toEqual([["web-1", true], ["web-2", true]])
      expect(yield* find({ build: { at: "WEB-1" } })).toEqual([["web-1", false]])
      expect(yield* find({ build: { at: "2" } }, one)).toEqual([["web-2", false]])
      expect(yield* find({ build: { at: "1" } }, one)).toEqual([["web-1", true]])
      expect(yield* find({ serverId: "2", build: { at: "1" } }, one)).toEqual([["web-1", false]])
    }))

  it.effect("follows the choice of one build", () =>
    Effect.gen(function*() {
      const choose = (config: ContainerConfig, at: string) =>
        findServerBuilders(directory, config, undefined, at).pipe(
          Effect.map((builders) => builders.map(({ keeps, server }) => [server.name, keeps])),
          Effect.provide(worldOf({}))
        )
      expect(yield* choose({ serverId: "1", build: { at: "target" } }, "here")).toEqual([])
      expect(yield* choose({ serverId: "1" }, "target")).toEqual([["web-1", true]])
      expect(yield* choose({ serverId: "1", build: { at: "1" } }, "web-2")).toEqual([["web-2", false]])
      expect(yield* Effect.flip(choose({ build: { at: "1" } }, "wbe-1"))).toMatchObject({
        status: 400,
        message: expect.stringMatching(
          /^projectPath "\/srv\/shop" is not built: at must be "here", "target" or a server: .*"wbe-1"/
        )
      })
    }))

  it.effect("names the field where there is no such server", () =>
    Effect.gen(function*() {
      const refusal = (config: ContainerConfig) => Effect.flip(find(config))
      expect(yield* refusal({ build: { at: "wbe-1" } })).toMatchObject({
        status: 422,
        message: expect.stringMatching(
          /^\/srv\/shop\/container\.json: build\.at must be "here", "target" or a server: .*"wbe-1".*"1" \(web-1\)/
        )
      })
      expect((yield* refusal({ build: { at: "target" } })).message).toMatch(/names no server: name it there/)
      expect((yield* refusal({ serverId: "9", build: { at: "target" } })).message).toMatch(/build\.at is "target".*"9"/)
    }))
})

describe("a build at a server", () => {
  it("is an option of container.json", () => {
    const decode = Schema.decodeUnknownEither(ContainerConfig)
    expect(decode({ build: { at: "target" } })._tag).toBe("Right")
    expect(decode({ build: { at: "" } })._tag).toBe("Left")
    expect(decode({ build: { at: 1 } })._tag).toBe("Left")
  })

  it("sends the words of Docker's client as lines", () => {
    expect(formatBuildWords(["A=x\ny\\", "docker", ""])).toBe("=A=x\\0012y\\\\\n=docker\n=\n\n")
  })

  it("reads the image from the end of stderr alone", () => {
    expect(parseBuilt(`sudo: hello\nbuilt ${id} linux/arm64 null\n`)).toMatchObject({
      value: { id, platform: "linux/arm64", layers: [] }
    })
    expect(parseBuilt(`built ${id} linux/arm64 null\nlost`)).toMatchObject({ _tag: "None" })
    expect(parseBuilt(`built ${id} linux/arm64 ["x"]`)).toMatchObject({ _tag: "None" })
  })

  it("finds images of earlier builds by their names", () => {
    expect(parseFound(`berth/build:1-2 ${id} linux/arm64 ["${layer}"]\nsudo: hello\nberth/build:1-3 ${id}\n`)).toEqual([
      { name: "berth/build:1-2", image: { id, platform: "linux/arm64", layers: [layer] } }
    ])
    expect(parseFound("")).toEqual([])
  })

  it.effect("needs no Docker here, and records what the target has built", () =>
    Effect.gen(function*() {
      expect(yield* build({ projectPath: directory })).toMatchObject({
        success: true,
        exitCode: 0,
        images: [{ services: ["web"], id, platform: "linux/amd64" }],
        output: expect.stringMatching(/^Building web from web on "web-1": sending 19 B\nStep 1\/2\nStep 2\/2\n$/)
      })
      const [asked] = yield* yield* SshAsked
      expect(asked?.args).toEqual(["1", expect.stringMatching(/^berth\/build:[0-9a-f]{12}-[0-9a-f]{16}$/)])
      // User text is neither in the script nor among its arguments.
      expect(JSON.stringify([asked?.script, asked?.args])).not.toMatch(/TOKEN|evil/)

      const found = yield* Effect.flatten(findBuiltArchive(directory, "1"))
      expect(isBuiltRecord(found.archive)).toBe(true)
      expect((yield* findBuiltArchive(directory, "2"))._tag).toBe("None")
      const archive = Either.getRight(yield* readArchive(found.archive, []))
      const facts = (serverImages: ReadonlyArray<{ readonly id: string; readonly layers: ReadonlyArray<string> }>) => ({
        containerdStore: false,
        engine: "24.0.0",
        api: "1.43",
        serverImages
      })
      const plan = { archive: found.archive }
      const there = facts([{ id, layers: [layer] }])
      expect(decideTransfer(found.archive, archive, there, "full")).toEqual({ kind: "built" })
      expect(findLostBuilds(plan, archive, there, "web-1")).toEqual([])
      expect(findLostBuilds(plan, archive, facts([]), "web-1")).toEqual([
        expect.stringMatching(/^"web-1" has built the image berth\/build:.*no longer has it: build it again/)
      ])
    }).pipe(Effect.provide(worldOf({ serverId: "web-1", build: { at: "target" } }))))

  it.effect("asks the server for what it has built by its id, since it may have more images than it lists", () =>
    Effect.gen(function*() {
      yield* build({ projectPath: directory })
      yield* Effect.exit(planContainers({ projectPath: directory, serverId: "1", remotePath: "~/shop" }))
      const asked = (yield* yield* SshAsked).find(({ what }) => what === "looking at the server before the deploy")
      expect(asked?.args).toContain(id)
    }).pipe(Effect.provide(worldOf({ serverId: "web-1", build: { at: "target" } }, {
      "building web": answer,
      "looking at the server before the deploy": { code: 3 }
    }))))

  it.effect("fails with the output of the server's Docker", () =>
    Effect.gen(function*() {
      expect(yield* build({ projectPath: directory })).toMatchObject({
        success: false,
        exitCode: 1,
        images: [],
        output: expect.stringContaining("Step 1/2\nno such stage\n")
      })
    }).pipe(Effect.provide(worldOf({ build: { at: "web-2" } }, {
      "building web": { code: 1, stdout: "Step 1/2\nno such stage\n" }
    }))))

  const other = `sha256:${"c".repeat(64)}`
  const tool = "  tool:\n    build: { context: web, target: tool }\n"
  const asked = Effect.map(Effect.flatten(SshAsked), (all) => all.map(({ what }) => what))

  it.effect("builds the section of one service, and keeps what the target has of the others", () =>
    Effect.gen(function*() {
      const named = Effect.gen(function*() {
        const { archive } = yield* Effect.flatten(findBuiltArchive(directory, "1"))
        const { images } = yield* Effect.flatten(Effect.map(readArchive(archive, []), Either.getRight))
        return images.map(({ containerdId }) => Option.getOrThrow(containerdId))
      })
      const first = yield* build({ projectPath: directory, service: "web", at: "target" })
      expect(first.images).toMatchObject([{ services: ["web"] }])
      expect(first.output).toContain("No image of tool from an earlier build at \"web-1\": build it too, unless")
      expect(yield* named).toEqual([id])
      const second = yield* build({ projectPath: directory, service: "tool", at: "target", noCache: true })
      expect(second.images).toMatchObject([{ services: ["tool"], id: other }])
      expect(second.output).not.toContain("No image")
      expect([...yield* named].sort()).toEqual([id, other])
      expect(yield* asked).toEqual(["building web", "building tool"])
    }).pipe(Effect.provide(worldOf({ serverId: "web-1" }, {
      "building web": answer,
      "building tool": { stderr: `built ${other} linux/amd64 null\n` }
    }, tool))))

  it.effect("has no secrets", () =>
    Effect.gen(function*() {
      const { message } = yield* Effect.flip(build({ projectPath: directory }))
      expect(message).toMatch(/container\.json: build\.secrets are for builds here/)
    }).pipe(Effect.provide(worldOf({ build: { at: "web-2", secrets: ["TOKEN"] } }))))
})
