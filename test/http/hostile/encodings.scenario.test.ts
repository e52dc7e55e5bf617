import { describe, expect, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { makeWorld } from "../../../src/sandbox/world.ts"
import { Comparison } from "../../../src/schema/compare.ts"
import { complaint } from "../../fixtures/hostile/confined.ts"
import { startService } from "../../fixtures/programs/service.ts"

const bom = "\uFEFF"
const crlf = (text: string) => text.replaceAll("\n", "\r\n")
/** No UTF-8: a letter of Latin-1, a byte that never occurs, an overlong form, and the first half of a letter. */
const broken = Buffer.from([0xfc, 0xff, 0xc0, 0x80, 0xe2, 0x82])
const everyByte = Buffer.from(Array.from({ length: 256 }, (_, index) => index))
const around = (before: string, after: string) => Buffer.concat([Buffer.from(before), broken, Buffer.from(after)])

const compose = `services:
  odd:
    image: hello:latest
    env_file: [.env, conf/odd.vars]
`
type Files = Readonly<Record<string, string | Uint8Array>>

const writeBelow = (root: string) => (files: Files) => {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), content)
  }
}

/** A world with a project `odd` and a place for it on the server; every reply has to be JSON that tells no secret. */
const scene = Effect.gen(function*() {
  const world = yield* makeWorld
  const service = yield* startService(world.settingsFile)
  const project = join(world.projects, "odd")
  const place = join(world.home, "containers", "odd")
  const request = (method: string, path: string, body?: unknown) =>
    Effect.map(service.request(method, path, body), (reply) => {
      expect(complaint(reply, ["s3cret"])).toBeUndefined()
      return reply
    })
  const there = { projectPath: project, serverId: world.serverId, remotePath: "~/containers/odd" }
  const locally = writeBelow(project)
  locally({
    "Dockerfile": "FROM scratch\n",
    "compose.yml": compose,
    "container.json": JSON.stringify({ serverId: world.serverId, files: ["conf"] }),
    "conf/odd.vars": "KEY=1\n",
    ".env": "A=1\n",
    "hello.tar": readFileSync(join(world.projects, "hello", "hello.tar"))
  })
  return {
    world,
    project,
    place,
    request,
    locally,
    remotely: writeBelow(place),
    compared: Effect.map(request("POST", "/api/projects/compare", there), ({ body }) => {
      const { files, warnings } = Schema.decodeUnknownSync(Comparison)(body)
      return { warnings, files: new Map(files.map((file) => [file.name, file])) }
    }),
    deploy: request("POST", "/api/container/deploy", there)
  }
})

const onLinux = process.platform === "linux"

describe.skipIf(process.platform === "win32")("bytes of every kind", () => {
  it.scopedLive("arrive on the server as they are, and come back so", () =>
    Effect.gen(function*() {
      const { deploy, locally, place, project, request, world } = yield* scene
      const files: Files = {
        "compose.yml": bom + crlf(compose),
        ".env": bom + crlf("A=1\nB='ü'\n"),
        "conf/odd.vars": bom + crlf("KEY=ü\n"),
        "conf/latin.txt": around("a", "\r\n"),
        "conf/every.bin": everyByte,
        "conf/marked.txt": `${bom}${bom}x\r\r\n`,
        "conf/empty": ""
      }
      locally({ ...files, "container.json": bom + crlf(JSON.stringify({ files: ["conf"] }, null, 2)) })
      expect((yield* deploy).body).toMatchObject({ success: true })
      for (const name of Object.keys(files)) {
        const [here, there] = [join(project, name), join(place, name)].map((path) => readFileSync(path))
        expect(there?.equals(here ?? Buffer.from("?")), name).toBe(true)
      }
      expect((yield* deploy).body).toMatchObject({ success: true, uploadedFiles: [] })

      const localPath = join(world.projects, "pulled")
      const item = { name: "conf", remotePath: "~/containers/odd/conf", localPath, type: "directory" }
      const pulled = yield* request("POST", "/api/container/pull", { serverId: world.serverId, files: [item] })
      expect(pulled.body).toMatchObject({ pulled: [{ files: 5 }], errors: [] })
      for (const name of ["odd.vars", "latin.txt", "every.bin", "marked.txt", "empty"]) {
        expect(readFileSync(join(localPath, name)).equals(readFileSync(join(project, "conf", name))), name).toBe(true)
      }
    }))

  it.scopedLive("that are no UTF-8 keep a file that is read from being deployed, in words", () =>
    Effect.gen(function*() {
      const { deploy, locally, place } = yield* scene
      expect((yield* deploy).body).toMatchObject({ success: true })
      const sound: Files = {
        "compose.yml": compose,
        ".env": "A=1\n",
        "conf/odd.vars": "KEY=1\n",
        "container.json": "{\"files\": [\"conf\"]}"
      }
      const before = readFileSync(join(place, "compose.yml"))
      for (const [name, content] of Object.entries(sound)) {
        locally({ [name]: around(`${String(content)}# `, "\n") })
        const failed = yield* deploy
        expect(failed.status).toBe(422)
        expect(failed.text).toMatch(new RegExp(`Deploy failed at preflight: .*/odd/${name}.*is not valid UTF-8`))
        locally({ [name]: content })
      }
      expect(readFileSync(join(place, "compose.yml")).equals(before)).toBe(true)
      expect((yield* deploy).body).toMatchObject({ success: true })
    }))

  it.scopedLive("are compared as bytes, and shown only where they are text", () =>
    Effect.gen(function*() {
      const { compared, locally, remotely } = yield* scene
      const same: Files = { "conf/marked.txt": `${bom}a\r\n`, "conf/odd.bin": everyByte, "data/x": broken }
      locally({ ...same, "compose.yml": bom + crlf(compose), "conf/latin": around("a", "b"), "conf/text": "ü\n" })
      remotely({ ...same, "compose.yml": compose, "conf/latin": around("a", "c"), "conf/text": around("", "\n") })
      const { files } = yield* compared
      for (const name of Object.keys(same)) expect(files.get(name)).toMatchObject({ status: "same" })
      expect(files.get("compose.yml")).toMatchObject({
        status: "different",
        diff: expect.stringContaining(`+${bom}services:\r\n`)
      })
      for (const name of ["conf/latin", "conf/text"]) {
        expect(files.get(name)).toMatchObject({ status: "different" })
        expect(files.get(name)).not.toHaveProperty("diff")
      }
    }))

  it.scopedLive("tell no value of an env file, whatever else cannot be read", () =>
    Effect.gen(function*() {
      const { compared, locally, remotely } = yield* scene
      remotely({ ".env": "A=s3cret\n", "compose.yml": compose, "conf/odd.vars": "KEY=s3cret1\nOLD=s3cret\n" })
      locally({ "conf/odd.vars": "KEY=s3cret2\nNEW=s3cret\n" })
      const keys = { different: ["KEY"], localOnly: ["NEW"], remoteOnly: ["OLD"] }

      locally({ ".env": around("A=s3cret", "\nB=s3cret\n") })
      const env = (yield* compared).files
      expect(env.get(".env")).toMatchObject({ status: "different" })
      expect(env.get(".env")).not.toHaveProperty("keys")
      expect(env.get("conf/odd.vars")).toMatchObject({ keys })

      locally({ ".env": "A=1\n", "compose.yml": around(compose, "\n") })
      const unread = yield* compared
      expect(unread.files.get("conf/odd.vars")).toMatchObject({ keys })
      expect(unread.files.get("conf/odd.vars")).not.toHaveProperty("diff")
      expect(unread.warnings.join()).toMatch(/compose\.yml.*is not valid UTF-8/)
      locally({ "compose.yml": "services: [" })
      expect((yield* compared).files.get("conf/odd.vars")).not.toHaveProperty("diff")

      locally({ ".env": `${bom}A=s3cret\r\nB=2\r\n`, "compose.yml": compose })
      expect((yield* compared).files.get(".env")).toMatchObject({
        keys: { different: [], localOnly: ["B"], remoteOnly: [] }
      })
    }))

  it.scopedLive("are no hindrance to a list of the projects, to init and to what platform.json declares", () =>
    Effect.gen(function*() {
      const { locally, project, request, world } = yield* scene
      const listed = Effect.map(
        request("GET", "/api/projects"),
        ({ body }) => Array.isArray(body) ? body.find(({ name }) => name === "odd") : undefined
      )
      locally({ "container.json": bom + crlf(`{\n"serverId": "sandbox", "remotePath": "~/x"\n}`) })
      expect(yield* listed).toMatchObject({ containerStatus: "configured", serverId: "sandbox", remotePath: "~/x" })
      locally({ "container.json": around("{\"serverId\": \"", "\"}"), "platform.json": broken, "compose.yml": broken })
      expect(yield* listed).toMatchObject({ containerStatus: "partial", serverId: null, hasPlatformJson: true })
      if (onLinux) mkdirSync(Buffer.concat([Buffer.from(`${world.projects}/a`), broken]))
      expect((yield* request("GET", "/api/projects")).status).toBe(200)

      const config = request("GET", `/api/platform/config?path=${project}`)
      const entry = { name: "odd", buildpack: "composestack", port: 2017, note: "ü" }
      expect([(yield* config).status, (yield* config).text]).toEqual([
        422,
        expect.stringMatching(/platform\.json.*is not valid UTF-8/)
      ])
      for (const path of ["drift", "upsert"]) {
        const failed = yield* request("POST", `/api/platform/${path}`, { projectPath: project })
        expect([failed.status, failed.text]).toEqual([
          path === "drift" ? 422 : 500,
          expect.stringMatching(/platform\.json.*is not valid UTF-8/)
        ])
      }
      locally({ "platform.json": bom + crlf(JSON.stringify(entry, null, 2)), "compose.yml": compose })
      expect((yield* config).body).toEqual([entry])
      const changelog = join(project, "platform.changelog.json")
      writeFileSync(changelog, around("[{\"by\": \"", "\"}]"))
      expect((yield* request("POST", "/api/platform/upsert", { projectPath: project })).status).toBe(200)
      expect(JSON.parse(readFileSync(changelog, "utf8"))).toMatchObject([{}, { appName: "odd" }])
      expect(readFileSync(`${changelog}.corrupt`).equals(around("[{\"by\": \"", "\"}]"))).toBe(true)

      const fresh = join(world.projects, "fresh")
      const dockerfile = bom + crlf("FROM scratch\n# ü\nEXPOSE 8123\n")
      writeBelow(fresh)({ "Dockerfile": dockerfile, ".env": bom + crlf("HOST_PORT=2044\n") })
      const made = yield* request("POST", "/api/projects/init", { projectPath: fresh })
      expect(made).toMatchObject({ status: 200, body: { kept: [".env"] } })
      expect(readFileSync(join(fresh, "compose.yml"), "utf8")).toContain("${HOST_PORT}:8123")
      expect(readFileSync(join(fresh, ".env"), "utf8")).toBe(bom + crlf("HOST_PORT=2044\n"))
      const latin = join(world.projects, "latin")
      writeBelow(latin)({ "Dockerfile": around("FROM scratch\n# ", "\n") })
      const refused = yield* request("POST", "/api/projects/init", { projectPath: latin })
      expect([refused.status, refused.text]).toEqual([422, expect.stringMatching(/Dockerfile.*is not valid UTF-8/)])
    }))

  it.scopedLive("on a server are no hindrance to a scan or a pull", () =>
    Effect.gen(function*() {
      const { place, remotely, request, world } = yield* scene
      remotely({ "compose.yml": around(`${bom}services: {}\r\n# `, "\0\n"), "conf/plain": "x" })
      if (onLinux) {
        mkdirSync(Buffer.concat([Buffer.from(`${world.home}/containers/z`), broken]))
        writeFileSync(Buffer.concat([Buffer.from(`${place}/conf/a`), broken]), "x")
      }
      const { body } = yield* request("GET", `/api/servers/${world.serverId}/scan`)
      expect(body).toMatchObject({
        deployed: expect.arrayContaining([
          expect.objectContaining({ name: "greeter" }),
          expect.objectContaining({
            name: "odd",
            composeFileContent: expect.stringMatching(/^\uFEFFservices: \{\}\r\n# \uFFFD/)
          })
        ])
      })
      const items = ["plain", ""].map((name) => ({
        name: name || "conf",
        remotePath: `~/containers/odd/conf${name === "" ? "" : `/${name}`}`,
        localPath: join(world.projects, "pulled", name || "conf"),
        type: name === "" ? "directory" : "file"
      }))
      const pulled = yield* request("POST", "/api/container/pull", { serverId: world.serverId, files: items })
      expect(pulled.body).toMatchObject({
        pulled: expect.arrayContaining([expect.objectContaining({ name: "plain", bytes: 1 })])
      })
    }))
})
