import { describe, expect, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { readdirSync } from "node:fs"
import { readFile, symlink, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { makeWorld } from "../../src/sandbox/world.ts"
import { addressOf, type Field, operations, withValue } from "../fixtures/hostile/operations.ts"
import { soundRequests } from "../fixtures/hostile/soundRequests.ts"
import { startService } from "../fixtures/programs/service.ts"
import { inPart, inTurn } from "../fixtures/thorough.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

const tokens = { operator: "token-of-the-operator", viewer: "token-of-the-viewer" }
const withTokens = `http:
  tokens:
    - { name: Ann, token: ${tokens.operator}, role: operator }
    - { name: Vic, token: ${tokens.viewer}, role: viewer }
`
const canary = "canary-outside-of-the-root"

/** A service with a project beside its root, and links to it. */
const started = (settings: string, anywhere: boolean, isBeside = false) =>
  Effect.gen(function*() {
    const world = yield* makeWorld
    const outside = yield* temporaryDirectory
    yield* plant(outside, {
      "secret/compose.yml": `services: { ${canary}: { image: ${canary} }, `,
      "secret/platform.json": `[{"name": "${canary}"`,
      "secret/platform.changelog.json": `[] ${canary}`,
      "linked/platform.json": "[]"
    })
    yield* Effect.promise(async () => {
      await symlink(join(outside, "linked"), join(world.projects, "linked"))
      await symlink(join(outside, "secret"), join(world.projects, "hello", "deeper"))
      await symlink(world.projects, join(outside, "root"))
      const text = await readFile(world.settingsFile, "utf8")
      const changed = anywhere
        ? text.replace("projects:\n", "projects:\n  anywhere: true\n")
        : isBeside
        ? text.replace(/^(projects:\n {2}root:).*$/m, "$1 .")
        : text
      await writeFile(world.settingsFile, `${changed}${settings}`)
    })
    const { request } = yield* startService(world.settingsFile)
    return { outside, request, world }
  })

class Fixture extends Context.Tag("test/Fixture")<Fixture, Effect.Effect.Success<ReturnType<typeof started>>>() {}

const isLocalPath = (field: Field) =>
  ["projectPath", "localPath"].includes(field.at(-1) ?? "") || field.join(".") === "query.path"

/** Every endpoint that takes a path of this machine, and where in a request that stands; runs are only filtered by one. */
const takers = operations
  .flatMap((operation) => {
    const field = operation.fields.find(isLocalPath)
    return field === undefined || operation.name === "GET /api/runs" ? [] : [{ name: operation.name, operation, field }]
  })
  .map((taker, at) => ({ ...taker, at }))

// Requests that nothing refuses take longest.
const some = inPart(takers, takers.filter(({ at }) => at % 4 === 0))

const asking = ({ field, name, operation }: typeof takers[number], path: string, token: string | undefined) =>
  Effect.flatMap(Fixture, ({ request, world: { projects, serverId } }) => {
    const sound = soundRequests({ serverId, projects, here: "/nowhere", uuid: "none" })[name] ?? {}
    const parts = withValue(sound, field, path)
    const headers = token === undefined ? undefined : { authorization: `Bearer ${token}` }
    return request(operation.method, addressOf(operation, parts), parts.body, headers)
  })

const refused = {
  status: 403,
  body: { error: expect.stringMatching(/is not under .*, and nothing was done/) }
}

describe("the directory of a project", () => {
  layer(Layer.scoped(Fixture, started(withTokens, false)))("for callers with a token", (it) => {
    it.effect.each(takers)("$name: is under the root", (taker) =>
      Effect.gen(function*() {
        const { outside, world: { projects } } = yield* Fixture
        const beyond = [
          join(outside, "secret"),
          join(outside, "none"),
          `${projects}/../../..${join(outside, "secret")}`,
          `${projects}/hello/../..`,
          join(projects, "hello", "deeper"),
          outside
        ]
        for (const projectPath of inTurn(beyond, taker.at)) {
          const operator = yield* asking(taker, projectPath, tokens.operator)
          expect([projectPath, operator]).toMatchObject([projectPath, refused])
          expect(operator.text).toContain("projects.anywhere")
          const viewer = yield* asking(taker, projectPath, tokens.viewer)
          expect([projectPath, viewer.status]).toEqual([projectPath, 403])
          expect(operator.text + viewer.text).not.toContain(canary)
          expect(viewer.text).not.toContain("projects.anywhere")
        }
      }))

    it.effect("may be what a link directly under the root leads to, and bear any name of the root", () =>
      Effect.gen(function*() {
        const { outside, world: { projects } } = yield* Fixture
        const config = takers.find(({ name }) => name === "GET /api/platform/config")
        const ask = (path: string) => config === undefined ? Effect.die("") : asking(config, path, tokens.viewer)
        expect(yield* ask(join(projects, "linked"))).toMatchObject({ status: 200, body: [] })
        expect(yield* ask(join(outside, "root", "hello"))).toMatchObject({ status: 200, body: [{ name: "hello" }] })
        expect(yield* ask(join(projects, "none"))).toMatchObject({ status: 200, body: { error: expect.any(String) } })
        expect((yield* ask("relative")).status).toBe(200)
      }))
  })

  layer(Layer.scoped(Fixture, started(withTokens, true)))("with projects.anywhere", (it) => {
    it.effect.each(some)("$name: operators leave the root, viewers do not", (taker) =>
      Effect.gen(function*() {
        const path = join((yield* Fixture).outside, "none")
        expect((yield* asking(taker, path, tokens.operator)).status).not.toBe(403)
        expect((yield* asking(taker, path, tokens.viewer)).status).toBe(403)
      }))
  })

  layer(Layer.scoped(Fixture, started(withTokens, false, true)))("with the settings beside the projects", (it) => {
    it.effect.each(takers)("$name: is no place of Berth's own files", (taker) =>
      Effect.gen(function*() {
        const { outside, world: { projects, settingsFile } } = yield* Fixture
        const root = dirname(settingsFile)
        const own = [
          root,
          join(projects, ".."),
          settingsFile,
          join(root, "BERTH.yaml"),
          join(root, "berth.trust"),
          join(root, "berth.db-wal"),
          join(root, "berth.builds", "new"),
          join(projects, "hello", "..", "..", "berth.trust"),
          join(outside, "root", "..", "berth.known_hosts")
        ]
        const before = readdirSync(root).sort()
        for (const path of inTurn(own, taker.at)) {
          for (const role of ["operator", "viewer"] as const) {
            const reply = yield* asking(taker, path, tokens[role])
            const isViewers = role === "viewer" && reply.text.includes("needs the role operator")
            const isOutside = path.startsWith(outside)
            expect([path, reply.status]).toEqual([path, 403])
            if (!isViewers && !isOutside) expect(reply.text).toContain("has files of Berth itself")
          }
        }
        expect(readdirSync(root).sort()).toEqual(before)
        // Another place below the root is refused for another reason, or not at all.
        expect((yield* asking(taker, join(projects, "none"), tokens.operator)).text).not.toContain("files of Berth")
      }))
  })

  layer(Layer.scoped(Fixture, started("", false)))("without tokens", (it) => {
    it.effect.each(some)("$name: the user of the machine leaves the root", (taker) =>
      Effect.gen(function*() {
        const path = join((yield* Fixture).outside, "none")
        expect((yield* asking(taker, path, undefined)).status).not.toBe(403)
      }))
  })
})
