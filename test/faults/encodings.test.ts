import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { docker, realDocker } from "../fixtures/docker/docker.ts"
import { realSsh } from "../fixtures/network/openssh.ts"
import { patience } from "../fixtures/patience.ts"
import { type FaultStage, makeFaultStage } from "../fixtures/runs/faultStage.ts"

const bom = "\uFEFF"
const broken = Buffer.from([0xfc, 0xff, 0xc0, 0x80, 0xe2, 0x82])
const everyByte = Buffer.from(Array.from({ length: 256 }, (_, index) => index))

const locally = (stage: FaultStage, files: Readonly<Record<string, string | Uint8Array>>) => {
  mkdirSync(join(stage.project, "conf"), { recursive: true })
  for (const [name, content] of Object.entries(files)) writeFileSync(join(stage.project, name), content)
}

const compose = ({ name }: FaultStage, more = "") =>
  `${bom}# ü\r\nversion: "3.8"\r\nservices:\r\n  web:\r\n    image: \${IMAGE}\r\n    network_mode: none\r\n` +
  `    stop_signal: SIGKILL\r\n    container_name: ${name}\r\n    labels:\r\n      mark: "ü"\r\n${more}`

const request = (stage: FaultStage) => ({
  projectPath: stage.project,
  serverId: "main",
  remotePath: `~/containers/${stage.name}`
})

const available = realSsh.available && realDocker.available
const title = realSsh.title(realDocker.title("bytes of every kind on a real server"))

describe.skipIf(!available)(title, { concurrent: true, timeout: 120_000 * patience }, () => {
  it.scopedLive("are deployed as they are, understood by compose, and the same when compared and pulled", () =>
    Effect.gen(function*() {
      const stage = yield* makeFaultStage()
      const mark = yield* stage.build()
      const files = {
        "compose.yml": compose(stage),
        ".env": `${bom}IMAGE=${stage.name}:latest\r\nB='ü'\r\n`,
        "conf/latin.txt": Buffer.concat([Buffer.from("a"), broken, Buffer.from("\r\n")]),
        "conf/every.bin": everyByte,
        "conf/marked.txt": `${bom}${bom}x\r\r\n`
      }
      locally(stage, { ...files, "container.json": `${bom}{\r\n"files": ["conf"]\r\n}` })
      expect((yield* stage.deploy).body).toMatchObject({ success: true, healthy: true })
      expect(yield* stage.running).toContain(mark)
      expect(yield* docker("inspect", "--format", "{{.Config.Labels.mark}}", stage.name)).toBe("ü")
      for (const name of Object.keys(files)) {
        const [here, there] = [stage.project, stage.place].map((root) => readFileSync(join(root, name)))
        expect(there?.equals(here ?? Buffer.from("?")), name).toBe(true)
      }
      expect((yield* stage.deploy).body).toMatchObject({ healthy: true, uploadedFiles: [] })
      expect((yield* stage.request("POST", "/api/projects/compare", request(stage))).body).toMatchObject({
        summary: { "same": 5, "different": 0, "local-only": 0, "remote-only": 0 },
        warnings: []
      })
      const localPath = join(stage.project, "pulled")
      const item = { name: "conf", remotePath: `~/containers/${stage.name}/conf`, localPath, type: "directory" }
      const pulled = yield* stage.request("POST", "/api/container/pull", { serverId: "main", files: [item] })
      expect(pulled.body).toMatchObject({ pulled: [{ files: 3 }], errors: [] })
      for (const name of ["latin.txt", "every.bin", "marked.txt"]) {
        expect(readFileSync(join(localPath, name)).equals(readFileSync(join(stage.place, "conf", name)))).toBe(true)
      }
    }))

  it.scopedLive("in an env file that compose cannot read keep the old version, and tell which file it is", () =>
    Effect.gen(function*() {
      const stage = yield* makeFaultStage()
      yield* stage.build()
      locally(stage, { "compose.yml": compose(stage), ".env": `IMAGE=${stage.name}:latest\n` })
      expect((yield* stage.deploy).body).toMatchObject({ healthy: true })
      const before = yield* stage.running
      locally(stage, {
        "compose.yml": compose(stage, "    env_file: [web.env]\r\n"),
        "web.env": Buffer.concat([Buffer.from("PASSWORD=s3cret"), broken])
      })
      const reply = yield* stage.deploy
      expect(reply.text).toMatch(
        /Deploy failed at preflight: .*web\.env.*is not valid UTF-8\. Nothing on the server was changed"\}$/
      )
      expect(yield* stage.running).toBe(before)
      expect(readFileSync(join(stage.place, "compose.yml"), "utf8")).toBe(compose(stage))

      locally(stage, { "web.env": `${bom}PASSWORD='ü'\r\n` })
      expect((yield* stage.deploy).body).toMatchObject({ healthy: true })
      expect(yield* docker("inspect", "--format", "{{json .Config.Env}}", stage.name)).toContain("\"PASSWORD=ü\"")
    }))

  it.scopedLive("in the names of files are told of, and keep nothing else from being read", () =>
    Effect.gen(function*() {
      const stage = yield* makeFaultStage()
      const odd = (path: string) => Buffer.concat([Buffer.from(path), broken])
      mkdirSync(join(stage.place, "data"), { recursive: true })
      mkdirSync(odd(`${stage.user.home}/containers/z`))
      writeFileSync(odd(`${stage.place}/data/a`), "x")
      writeFileSync(join(stage.place, "data", "plain"), "x")
      writeFileSync(join(stage.place, "compose.yml"), Buffer.concat([broken, Buffer.from("\0\r\n")]))
      const { body } = yield* stage.request("GET", "/api/servers/main/scan")
      expect(body).toMatchObject({
        success: true,
        deployed: [
          { name: stage.name, composeFileContent: expect.stringContaining("\uFFFD") },
          { name: expect.stringContaining("\uFFFD") }
        ]
      })
      const remotePath = `~/containers/${stage.name}/data`
      const pulled = yield* stage.request("POST", "/api/container/pull", {
        serverId: "main",
        files: [
          { name: "all", remotePath, localPath: join(stage.project, "all"), type: "directory" },
          { name: "plain", remotePath: `${remotePath}/plain`, localPath: join(stage.project, "plain"), type: "file" }
        ]
      })
      expect(pulled.body).toMatchObject({
        pulled: [{ name: "plain", bytes: 1 }],
        errors: [{ name: "all", error: expect.stringMatching(/data\/a\uFFFD.* on "Main": no such file or directory/) }]
      })
      const compared = yield* stage.request("POST", "/api/projects/compare", request(stage))
      expect(compared.body).toMatchObject({
        files: expect.arrayContaining([
          expect.objectContaining({ name: "data/plain", status: "remote-only" }),
          expect.objectContaining({ name: expect.stringMatching(/^data\/a\uFFFD/), status: "remote-only" })
        ])
      })
    }))
})
