import { describe, expect, it } from "@effect/vitest"
import { Effect, Either, Layer, Schema } from "effect"
import { findBuiltArchive, isBuiltRecord } from "../../../src/pipelines/archive/builtArchive.ts"
import { decideTransfer, readArchive } from "../../../src/pipelines/archive/transfer.ts"
import { build } from "../../../src/pipelines/build.ts"
import { findServerBuilders } from "../../../src/pipelines/build/buildAtServer.ts"
import { planContainers } from "../../../src/pipelines/deploy/plan.ts"
import { findLostBuilds } from "../../../src/pipelines/deploy/preflight.ts"
import { formatBuildWords, parseBuilt } from "../../../src/remote/build.ts"
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

const worldOf = (config: object, answers: Readonly<Record<string, SshAnswer>> = { "building web": answer }) =>
  Layer.mergeAll(
    memoryWorld({
      files: {
        [`${directory}/compose.yml`]: [
          "services:",
          "  web:",
          "    build: { context: web, target: app, args: { TOKEN: \"a'b\", FOO-BAR: x, PATH: /evil } }",
          ""
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

  it.effect("has no secrets", () =>
    Effect.gen(function*() {
      const { message } = yield* Effect.flip(build({ projectPath: directory }))
      expect(message).toMatch(/container\.json: build\.secrets are for builds here/)
    }).pipe(Effect.provide(worldOf({ build: { at: "web-2", secrets: ["TOKEN"] } }))))
})
