import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { compare } from "../../../src/pipelines/compare.ts"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { planContainers } from "../../../src/pipelines/deploy/plan.ts"
import { rollback } from "../../../src/pipelines/releases/rollback.ts"
import { executeStackAction } from "../../../src/pipelines/stacks.ts"
import { docker, lines } from "../../fixtures/docker/docker.ts"
import { berth, onServer, project, realServer } from "../../fixtures/docker/realProject.ts"
import { patience } from "../../fixtures/patience.ts"

const put = (directory: string, files: Readonly<Record<string, string>>) =>
  Effect.sync(() => {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, name)), { recursive: true })
      writeFileSync(join(directory, name), content)
    }
  })

/** Id of the container of a service, and what the container sees of a file. */
const containerOf = (name: string, service: string) =>
  docker(
    "ps",
    "-aq",
    "--no-trunc",
    "--filter",
    `label=com.docker.compose.project=${name}`,
    "--filter",
    `label=com.docker.compose.service=${service}`
  )
const seen = (id: string, file: string) => docker("exec", id, "/bin/busybox", "cat", file)

const title = realServer.title("compose projects on a real server")

describe.skipIf(!realServer.available)(title, { timeout: 240_000 * patience }, () => {
  it.scopedLive("bring what they mount, recreate what sees a change, and keep the server's data", () =>
    Effect.gen(function*() {
      const { server, user } = yield* onServer(true)
      const { build, directory, image, name } = yield* project
      const remotePath = `~/containers/${name}`
      const remote = join(user.home, "containers", name)
      const place = { serverId: server.id, remotePath }
      const request = { ...place, projectPath: directory }
      yield* build("one")
      const service = `image: ${image}\n    stop_signal: SIGKILL`
      yield* put(directory, {
        "compose.yml": `version: "3.8"
services:
  web:
    ${service}
    volumes:
      - ./site.conf:/site.conf
      - ./conf.d:/conf.d:ro
      - ./uploads:/uploads
    secrets: [key]
  other:
    ${service}
secrets:
  key: { file: ./keys/key }
`,
        "site.conf": "one",
        "conf.d/a b": "a",
        "uploads/local": "never sent",
        "keys/key": "hush"
      })
      yield* Effect.gen(function*() {
        const plan = yield* planContainers(request)
        expect(plan.obstacles).toEqual([])
        expect(plan.references).toEqual([
          { path: "site.conf", at: "compose.yml:7", decided: "brought" },
          { path: "conf.d", at: "compose.yml:8", decided: "brought" },
          { path: "uploads", at: "compose.yml:9", decided: "data" },
          { path: "keys/key", at: "compose.yml:15", decided: "brought" }
        ])
        expect(yield* deploy(request)).toMatchObject({ success: true, healthy: true })
        const [web, other] = [yield* containerOf(name, "web"), yield* containerOf(name, "other")]
        expect(yield* seen(web, "/site.conf")).toBe("one")
        expect(yield* seen(web, "/conf.d/a b")).toBe("a")
        expect(yield* seen(web, "/run/secrets/key")).toBe("hush")
        expect(existsSync(join(remote, "uploads/local"))).toBe(false)
        yield* docker("exec", web, "/bin/busybox", "sh", "-c", "echo kept >/uploads/own")

        yield* put(directory, { "site.conf": "two" })
        expect((yield* planContainers(request)).services).toEqual([
          { name: "web", change: "recreate" },
          { name: "other", change: "keep" }
        ])
        const { files } = yield* compare(request)
        expect(files.find((file) => file.name === "site.conf")).toMatchObject({ status: "different" })
        expect(files.find((file) => file.name === "keys/key")).not.toHaveProperty("diff")
        yield* deploy(request)
        const second = yield* containerOf(name, "web")
        expect(second).not.toBe(web)
        expect(yield* containerOf(name, "other")).toBe(other)
        expect(yield* seen(second, "/site.conf")).toBe("two")
        expect(yield* seen(second, "/uploads/own")).toBe("kept")

        yield* rollback(place)
        expect(yield* seen(yield* containerOf(name, "web"), "/site.conf")).toBe("one")
        expect(yield* containerOf(name, "other")).toBe(other)
        yield* deploy(request)

        // A start that fails leaves the old file in the containers too.
        yield* put(directory, { "site.conf": "three" })
        const compose = readFileSync(join(directory, "compose.yml"), "utf8")
        yield* put(directory, {
          "compose.yml": compose.replace(
            "  other:",
            "  zz:\n    image: " + image + "\n    volumes: [\"/dev/null:/www\"]\n  other:"
          )
        })
        expect((yield* Effect.flip(deploy(request))).message).toMatch(/The previous version is running again$/)
        expect(yield* seen(yield* containerOf(name, "web"), "/site.conf")).toBe("two")
        yield* put(directory, { "compose.yml": compose })

        // The directory that Docker made of a missing file, and a missing file.
        yield* Effect.sync(() => rmSync(join(directory, "site.conf")))
        yield* Effect.sync(() => rmSync(join(remote, "site.conf")))
        const missing = yield* Effect.flip(deploy(request))
        expect(missing).toMatchObject({ status: 422 })
        expect(missing.message).toMatch(/compose\.yml:7 mounts "site\.conf", which neither the project nor "Main" has/)
        expect(existsSync(join(remote, "site.conf"))).toBe(false)
        yield* put(directory, { "site.conf": "four" })
        yield* Effect.sync(() => mkdirSync(join(remote, "site.conf")))
        const [wrong] = (yield* planContainers(request)).obstacles
        expect(wrong).toMatch(/"site\.conf" \(compose\.yml:7\) is a file here and a directory on "Main"/)
        expect(yield* Effect.flip(deploy(request))).toMatchObject({ status: 422 })
        yield* Effect.sync(() => rmSync(join(remote, "site.conf"), { recursive: true }))
        yield* deploy(request)
        expect(yield* seen(yield* containerOf(name, "web"), "/site.conf")).toBe("four")
      }).pipe(Effect.provide(berth(server)))
    }))

  it.scopedLive("start with all their files, profiles and variables, also by actions on the stack and a rollback", () =>
    Effect.gen(function*() {
      const { server, user } = yield* onServer(false)
      const { build, directory, image, name } = yield* project
      const remotePath = `~/containers/${name}`
      const place = { serverId: server.id, remotePath }
      const request = { ...place, projectPath: directory }
      const environment = (id: string) =>
        Effect.map(docker("inspect", "--format", "{{join .Config.Env \"|\"}}", id), (text) => text.split("|"))
      yield* build("one")
      yield* put(directory, {
        "compose.yml": `version: "3.8"
services:
  web:
    image: ${image}
    stop_signal: SIGKILL
    environment: { A: "\${A}", B: "\${B}" }
  tool:
    extends: { file: common/base.yml, service: base }
    profiles: [tools]
  never:
    image: ${image}
    profiles: [dev]
`,
        "compose.prod.yml":
          `version: "3.8"\nservices:\n  web:\n    environment: { C: prod }\n    volumes: ["./prod.conf:/prod.conf:ro"]\n`,
        "common/base.yml":
          `services:\n  base:\n    image: ${image}\n    stop_signal: SIGKILL\n    env_file: base.env\n    volumes: ["./base.txt:/base.txt:ro"]\n`,
        "common/base.env": "BASE=1\n",
        "common/base.txt": "base",
        "prod.conf": "prod",
        ".env": "A=env\nB=env\n",
        ".env.prod": "B=prod\n",
        "container.json": JSON.stringify({
          compose: ["compose.yml", "compose.prod.yml"],
          profiles: ["tools"],
          envFiles: [".env", ".env.prod"]
        })
      })
      yield* Effect.gen(function*() {
        const plan = yield* planContainers(request)
        expect(plan).toMatchObject({
          obstacles: [],
          compose: { files: ["compose.yml", "compose.prod.yml"], profiles: ["tools"] }
        })
        expect(plan.services.map((service) => [service.name, service.change])).toEqual([["web", "create"], [
          "tool",
          "create"
        ]])
        expect(yield* deploy(request)).toMatchObject({ success: true, healthy: true })
        const check = Effect.gen(function*() {
          const [web, tool] = [yield* containerOf(name, "web"), yield* containerOf(name, "tool")]
          expect(yield* environment(web)).toEqual(expect.arrayContaining(["A=env", "B=prod", "C=prod"]))
          expect(yield* environment(tool)).toContain("BASE=1")
          expect(yield* seen(web, "/prod.conf")).toBe("prod")
          expect(yield* seen(tool, "/base.txt")).toBe("base")
          expect(lines(yield* containerOf(name, "never"))).toEqual([])
          return [web, tool]
        })
        const first = yield* check
        expect((yield* planContainers(request)).services.map(({ change }) => change)).toEqual(["keep", "keep"])
        yield* executeStackAction("stop", place)
        yield* executeStackAction("start", place)
        expect(yield* check).toEqual(first)
        yield* put(directory, { "container.json": "{}" })
        yield* deploy(request)
        expect(yield* environment(yield* containerOf(name, "web"))).toContain("B=env")
        yield* rollback(place)
        yield* check
        const mode = statSync(join(user.home, "containers", name, ".env.prod")).mode & 0o777
        expect(mode).toBe(0o600)
        yield* executeStackAction("remove", place)
        expect(existsSync(join(user.home, "containers", name))).toBe(false)
      }).pipe(Effect.provide(berth(server)))
    }))
})
