import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { planContainers } from "../../../src/pipelines/deploy/plan.ts"
import { compareReleases } from "../../../src/pipelines/releases/releases.ts"
import { rollback } from "../../../src/pipelines/releases/rollback.ts"
import { CurrentCaller } from "../../../src/services/access/Caller.ts"
import { docker } from "../../fixtures/docker/docker.ts"
import { berth, onServer, project, realServer, withSudo } from "../../fixtures/docker/realProject.ts"
import { runnableImage } from "../../fixtures/docker/runnableImage.ts"
import { patience } from "../../fixtures/patience.ts"

const title = realServer.title("secrets of a project on a real server")

const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join("")
const tlsKey =
  "-----BEGIN PRIVATE KEY-----\nplantedTlsKeyLineOne0123456789=\nplantedTlsKeyLineTwo0123456789==\n-----END-----"

/** Everything that runs on this machine, with its arguments. */
const processes = () => {
  try {
    return execFileSync("ps", ["-eo", "args", "-ww"], { encoding: "utf8" })
  } catch {
    return ""
  }
}

const filesBelow = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const at = join(directory, entry.name)
    return entry.isDirectory() ? filesBelow(at) : entry.isFile() ? [at] : []
  })

describe.skipIf(!realServer.available)(title, { timeout: 240_000 * patience }, () => {
  for (const useSudo of withSudo) {
    it.scopedLive(
      `are resolved once, reach their services alone, and lie nowhere else, ${
        useSudo ? "through sudo" : "as a docker user"
      }`,
      () =>
        Effect.gen(function*() {
          const { server, user } = yield* onServer(useSudo)
          const { archive, compose, directory, image, name } = yield* project
          const remote = join(user.home, "containers", name)
          const request = { projectPath: directory, serverId: server.id, remotePath: `~/containers/${name}` }
          writeFileSync(archive, runnableImage(name, "one", { own: name }).archive)
          // A stand-in for a password manager: it logs its calls, and reads its vault from outside of the project.
          const vault = join(user.home, "..", `${name}-vault`)
          const value = (of: string, text: string) => writeFileSync(`${vault}-${of}`, text, { mode: 0o600 })
          const calls = () => existsSync(`${vault}-log`) ? readFileSync(`${vault}-log`, "utf8").trim().split("\n") : []
          const op = join(directory, "op")
          writeFileSync(op, `#!/bin/sh\necho "$2" >>"${vault}-log"\ncat "${vault}-$2"; echo\n`)
          chmodSync(op, 0o755)
          yield* Effect.addFinalizer(() => Effect.sync(() => execFileSync("sh", ["-c", `rm -f "$0"-*`, vault])))
          value("db", "plantedDbPassword$1'\"\\")
          value("all", `${printable}\n${printable}`)
          value("tls", tlsKey)
          writeFileSync(
            join(directory, "container.json"),
            JSON.stringify({
              secrets: {
                DB_PASSWORD: { command: ["./op", "read", "db"] },
                DB_AGAIN: { command: ["./op", "read", "db"] },
                ALL: { command: ["./op", "read", "all"] },
                TLS_KEY: { command: ["./op", "read", "tls"], as: "file" },
                UNUSED: { command: ["./op", "read", "unused"] }
              }
            })
          )
          writeFileSync(join(directory, ".env"), "PLAIN=1\n")
          const base = [`image: ${image}`, "stop_signal: SIGKILL"]
          yield* compose(
            [...base, "environment: [DB_PASSWORD, \"AGAIN=${DB_AGAIN}\", \"ALL=${ALL}\"]"],
            [
              "  tls:",
              ...[...base, "user: \"10001\"", "secrets: [tls]"].map((line) => `    ${line}`),
              "  plain:",
              ...[...base, "environment: [\"PLAIN=${PLAIN}\"]"].map((line) => `    ${line}`),
              "secrets:",
              "  tls:",
              "    file: ./.secrets/TLS_KEY"
            ]
          )
          const planted = ["plantedDbPassword", "plantedTlsKey", printable.slice(10, 60)]
          const expectNone = (text: string) => {
            for (const secret of planted) expect(text).not.toContain(secret)
          }
          const container = (service: string) =>
            docker(
              "ps",
              "-q",
              "--no-trunc",
              "--filter",
              `label=com.docker.compose.project=${name}`,
              "--filter",
              `label=com.docker.compose.service=${service}`
            )
          const inside = (service: string, ...command: ReadonlyArray<string>) =>
            Effect.flatMap(container(service), (id) => docker("exec", id, "/bin/busybox", ...command))
          const environmentOf = (service: string) =>
            Effect.flatMap(container(service), (id) => docker("inspect", "--format", "{{json .Config.Env}}", id)).pipe(
              Effect.map((json): unknown => JSON.parse(json))
            )

          yield* Effect.gen(function*() {
            // Neither a viewer nor --no-secrets runs anything.
            const viewer = { name: "Vic", role: "viewer" as const }
            const shown = yield* Effect.provideService(planContainers(request), CurrentCaller, viewer)
            expect(yield* planContainers({ ...request, noSecrets: true })).toMatchObject({ secrets: shown.secrets })
            expect(calls()).toEqual([])
            expect(shown.secrets?.map(({ change, name, services }) => [name, change, services])).toEqual([
              ["DB_PASSWORD", "new", ["web"]],
              ["DB_AGAIN", "new", ["web"]],
              ["ALL", "new", ["web"]],
              ["TLS_KEY", "new", ["tls"]]
            ])

            const first = yield* planContainers(request)
            expect(first.obstacles).toEqual([])
            expect(first.warnings.join()).toContain("UNUSED is used by no service")
            expect(calls().toSorted()).toEqual(["all", "db", "tls"])
            expectNone(JSON.stringify(first))

            // Sampled while the deploy runs.
            const seen: Array<string> = []
            const sampling = yield* Effect.fork(Effect.forever(
              Effect.zipRight(Effect.sync(() => seen.push(processes())), Effect.sleep("40 millis"))
            ))
            const deployed = yield* deploy({ ...request, planHash: first.planHash })
            yield* Fiber.interrupt(sampling)
            expect(deployed).toMatchObject({ healthy: true })
            expect(seen.length).toBeGreaterThan(10)
            expectNone(seen.join("\n"))
            expectNone(JSON.stringify(deployed))
            // The deploy of a plan uses what the plan has resolved.
            expect(calls()).toHaveLength(3)

            expect(yield* environmentOf("web")).toEqual(expect.arrayContaining([
              "DB_PASSWORD=plantedDbPassword$1'\"\\",
              "AGAIN=plantedDbPassword$1'\"\\",
              `ALL=${printable}\n${printable}`
            ]))
            expect(JSON.stringify(yield* environmentOf("plain"))).not.toContain("planted")
            expect(yield* inside("tls", "id", "-u")).toBe("10001")
            expect(yield* inside("tls", "cat", "/run/secrets/tls")).toBe(tlsKey)
            const labels = yield* docker("ps", "--format", "{{.Labels}}", "--filter", `name=${name}`)
            expectNone(labels)

            // On the server: 0600, or 0444 in a directory of 0700.
            expect(statSync(join(remote, ".env")).mode & 0o777).toBe(0o600)
            expect(statSync(join(remote, ".secrets")).mode & 0o777).toBe(0o700)
            expect(statSync(join(remote, ".secrets/TLS_KEY")).mode & 0o777).toBe(0o444)
            const holding = filesBelow(remote).filter((file) =>
              planted.some((secret) => readFileSync(file, "utf8").includes(secret))
            )
            for (const file of holding) {
              const isClosed = file.includes("/.berth/") || file.includes("/.secrets/")
              expect([file, isClosed || (statSync(file).mode & 0o077) === 0]).toEqual([file, true])
            }
            expect(statSync(join(remote, ".berth")).mode & 0o077).toBe(0)
            // Here: nowhere in the project.
            for (const file of filesBelow(directory).filter((file) => file !== archive)) {
              expectNone(readFileSync(file, "latin1"))
            }

            const again = yield* planContainers(request)
            expect(again.secrets?.map(({ change }) => change)).toEqual(["same", "same", "same", "same"])
            expect(again.services.map(({ change }) => change)).toEqual(["keep", "keep", "keep"])
            expect(again.files.map(({ change }) => change)).toEqual(again.files.map(() => "same"))
            const without = yield* planContainers({ ...request, noSecrets: true })
            expect(without.secrets?.map(({ change }) => change)).toEqual(["unknown", "unknown", "unknown", "unknown"])
            expect(without.files.map(({ change }) => change)).toEqual(again.files.map(() => "same"))

            // Rotation: one changed value recreates exactly the services that use it.
            const ids = () => Effect.all([container("web"), container("tls"), container("plain")])
            const before = yield* ids()
            value("tls", tlsKey.replace("LineOne", "LineOwn"))
            const rotated = yield* planContainers(request)
            expect(rotated.secrets?.map(({ change }) => change)).toEqual(["same", "same", "same", "changed"])
            expect(rotated.services).toEqual([
              { name: "web", change: "keep" },
              { name: "tls", change: "recreate" },
              { name: "plain", change: "keep" }
            ])
            expectNone(JSON.stringify(rotated))
            yield* deploy({ ...request, planHash: rotated.planHash })
            const after = yield* ids()
            expect(after.map((id, index) => id === before[index])).toEqual([true, false, true])
            expect(yield* inside("tls", "cat", "/run/secrets/tls")).toContain("LineOwn")

            value("db", "plantedDbPasswordTwo")
            const second = yield* planContainers(request)
            expect(second.services.map(({ change }) => change)).toEqual(["recreate", "keep", "keep"])
            yield* deploy({ ...request, planHash: second.planHash })
            const last = yield* ids()
            expect(last.map((id, index) => id === after[index])).toEqual([false, true, true])

            // A plan ends with a change of the secret.
            const held = yield* planContainers({ ...request, noSecrets: true })
            value("db", "plantedDbPasswordThree")
            const moved = yield* Effect.flip(deploy({ ...request, planHash: held.planHash }))
            expect(moved.message).toContain("a secret has changed")

            const compared = yield* compareReleases(server.id, { remotePath: request.remotePath, from: "1" })
            expectNone(JSON.stringify(compared))
            expect(compared.files.find(({ name }) => name === ".env")?.variables?.changed).toEqual([
              "DB_AGAIN",
              "DB_PASSWORD"
            ])
            expect(compared.files.find(({ name }) => name === ".secrets/TLS_KEY")).toEqual({
              name: ".secrets/TLS_KEY",
              change: "changed"
            })

            // A rollback mounts the secret file of its release.
            yield* rollback({ serverId: server.id, remotePath: request.remotePath, release: "1" })
            expect(yield* inside("tls", "cat", "/run/secrets/tls")).toBe(tlsKey)
            expect(statSync(join(remote, ".secrets")).mode & 0o777).toBe(0o700)

            // Secrets that the project no longer declares are removed.
            writeFileSync(join(directory, "container.json"), "{}")
            yield* compose([...base])
            const gone = yield* planContainers(request)
            expect(gone.secrets?.map(({ change, name }) => [name, change])).toEqual([
              ["ALL", "gone"],
              ["DB_AGAIN", "gone"],
              ["DB_PASSWORD", "gone"],
              ["TLS_KEY", "gone"]
            ])
            yield* deploy(request)
            expect(existsSync(join(remote, ".secrets/TLS_KEY"))).toBe(false)
            expect(readFileSync(join(remote, ".env"), "utf8")).toBe("PLAIN=1\n")
          }).pipe(Effect.provide(berth(server, { "projects.root": tmpdir() })), Effect.scoped)
        })
    )
  }
})
