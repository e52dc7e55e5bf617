import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmod, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { makeImageArchive } from "../../src/sandbox/projects.ts"
import { makeWorld } from "../../src/sandbox/world.ts"
import { runCli } from "../fixtures/programs/cli.ts"
import { startService } from "../fixtures/programs/service.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

const must = <A>(make: () => Promise<A>) => Effect.promise(make)

/** Docker of this machine: notes its arguments, and saves the archive that the test has put beside it. */
const standIn = `#!/bin/sh
cd "$(dirname "$0")"
echo "$*" >>calls
case $1 in
  version) echo 28.2.2 ;;
  build) [ ! -e refuses ] || { echo "no such stage: app"; exit 3; }; echo "Step 1/1" ;;
  image) [ "$(cat lost 2>/dev/null)" != "$6" ] || exit 1; echo "sha256:$(printf %064d 1) linux/amd64" ;;
  save) cp archive.tar "$3" ;;
esac
`

const service = Effect.gen(function*() {
  const [world, programs] = [yield* makeWorld, yield* temporaryDirectory]
  yield* must(() => writeFile(join(programs, "docker"), standIn))
  yield* must(() => chmod(join(programs, "docker"), 0o755))
  const path = process.env["PATH"] ?? ""
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      process.env["PATH"] = `${programs}:${path}`
    }),
    () =>
      Effect.sync(() => {
        process.env["PATH"] = path
      })
  )
  const projectPath = join(world.projects, "built")
  yield* plant(projectPath, {
    "compose.yml": [
      "services:",
      ...["web", "worker"].flatMap((name) => [
        `  ${name}:`,
        "    image: built",
        "    build:",
        "      context: app",
        "      target: app"
      ]),
      ""
    ].join("\n"),
    "app/Dockerfile": "FROM scratch AS app"
  })
  const put = (name: string, content: string | Uint8Array) => must(() => writeFile(join(programs, name), content))
  const calls = Effect.map(must(() => readFile(join(programs, "calls"), "utf8")), (text) => text.trim().split("\n"))
  return { programs, projectPath, put, calls, ...yield* startService(world.settingsFile) }
})

describe.skipIf(process.platform === "win32")("builds of a compose file over HTTP", () => {
  it.scopedLive("build each section once, and the deploy after them sends the image", () =>
    Effect.gen(function*() {
      const { calls, programs, projectPath, put, request, url } = yield* service
      const before = yield* must(() => readdir(projectPath, { recursive: true }))
      const place = { projectPath, serverId: "sandbox", remotePath: "~/containers/built" }
      yield* put("refuses", "")
      expect(yield* request("POST", "/api/container/build", { projectPath, build: true })).toMatchObject({
        status: 200,
        body: { success: false, tarFile: null, exitCode: 3, output: "no such stage: app\n", images: [] }
      })
      expect(yield* request("POST", "/api/container/deploy", { ...place, build: true })).toMatchObject({
        status: 500,
        body: {
          error: expect.stringMatching(/^Deploy failed at build: .*exit code 3.*Nothing on the server was changed/)
        }
      })
      const [, name = ""] = /--tag (berth\/build:[0-9a-f]{12}-[0-9a-f]{16}) --target app -- .*\/built\/app$/.exec(
        (yield* calls).find((call) => call.startsWith("build ")) ?? ""
      ) ?? []
      expect(name).not.toBe("")

      yield* must(() => rm(join(programs, "refuses")))
      yield* put("archive.tar", makeImageArchive({ name, layers: [{ hello: "one" }] }))
      const sofar = (yield* calls).length
      yield* must(() => writeFile(join(projectPath, "container.json"), "{\"build\":{\"at\":\"nowhere\"}}"))
      for (const path of ["/api/container/build", "/api/container/plan"]) {
        const body = path.endsWith("build") ? { projectPath } : place
        expect(yield* request("POST", path, body)).toMatchObject({
          status: 422,
          body: { error: expect.stringMatching(/container\.json: build\.at must be .*"nowhere"/) }
        })
      }
      yield* must(() => rm(join(projectPath, "container.json")))
      expect(yield* calls).toHaveLength(sofar)
      expect(yield* request("POST", "/api/container/build", { projectPath })).toMatchObject({
        status: 200,
        body: { success: true, exitCode: 0, images: [{ services: ["web", "worker"], platform: "linux/amd64" }] }
      })
      expect((yield* calls).slice(sofar).map((call) => call.split(" ")[0])).toEqual([
        "version",
        "build",
        "image",
        "save"
      ])
      const chosen = (yield* calls).length
      expect(
        yield* request("POST", "/api/container/build", { projectPath, service: "worker", noCache: true, at: "here" })
      )
        .toMatchObject({ status: 200, body: { success: true, images: [{ services: ["web", "worker"] }] } })
      expect((yield* calls).slice(chosen)[1]).toMatch(/^build .* --target app --no-cache -- /)
      yield* must(() => writeFile(join(projectPath, "build-image-tar.sh"), "true"))
      expect(yield* request("POST", "/api/container/build", { projectPath, noCache: true })).toMatchObject({
        status: 400,
        body: {
          error: expect.stringMatching(/is built by its build-image-tar\.sh, which takes no place, service or cache/)
        }
      })
      yield* must(() => rm(join(projectPath, "build-image-tar.sh")))
      const plan = yield* request("POST", "/api/container/plan", place)
      expect(plan).toMatchObject({
        status: 200,
        body: {
          obstacles: [],
          images: [{ name: "built:latest", change: "new", platform: expect.stringMatching(/^linux\//) }],
          programs: [{ kind: "build", name: "web, worker", detail: "app" }, {
            kind: "imageFile",
            name: "app/Dockerfile"
          }]
        }
      })
      expect(yield* request("POST", "/api/container/deploy", { ...place, build: true })).toMatchObject({
        status: 200,
        body: { success: true, uploadedFiles: ["compose.yml", "berth-build.tar"] }
      })
      expect(yield* request("POST", "/api/container/plan", place)).toMatchObject({ body: { bytesToSend: 0 } })
      expect(yield* must(() => readdir(projectPath, { recursive: true }))).toEqual(before)

      // Images of the other sections are saved again, as long as Docker has them.
      const compose = yield* must(() => readFile(join(projectPath, "compose.yml"), "utf8"))
      yield* must(() => writeFile(join(projectPath, "compose.yml"), `${compose}  tool: { build: app }\n`))
      const options = ["build", projectPath, "--service", "tool", "--no-cache", "--at", "here"]
      const lacking = "No image of web, worker from an earlier build here: build it too, unless the server has it"
      const kept = yield* runCli({ url }, options)
      expect(kept.code).toBe(0)
      expect(kept.err).not.toContain("No image")
      expect((yield* calls).findLast((call) => call.startsWith("build "))).toMatch(/ --no-cache -- .*\/app$/)
      expect((yield* calls).at(-1)).toMatch(/^save .* -- berth\/build:\S+ berth\/build:\S+$/)
      expect((yield* calls).at(-1)).toContain(name)
      yield* put("lost", name)
      expect((yield* runCli({ url }, options)).err).toContain(lacking)
      expect((yield* calls).at(-1)).toMatch(/^save .* -- berth\/build:\S+$/)
    }).pipe(Effect.provide(NodeContext.layer)))
})
