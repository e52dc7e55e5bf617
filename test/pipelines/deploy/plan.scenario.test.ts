import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { formatBytes } from "../../../src/schema/words.ts"
import { CurrentCaller } from "../../../src/services/access/Caller.ts"
import { Runs } from "../../../src/services/runs/Runs.ts"
import { scene } from "../../fixtures/docker/deployScene.ts"
import { tar } from "../../fixtures/docker/tar.ts"
import { patience } from "../../fixtures/patience.ts"
import { inTurn } from "../../fixtures/thorough.ts"
import { shells } from "../../layers/RemoteHere.ts"

/** Every file below a directory, with what is in it. */
const contents = (directory: string) =>
  readdirSync(directory, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name)
    return [path, entry.isFile() ? readFileSync(path, "hex") : entry.isDirectory()]
  })

const changes = (items: ReadonlyArray<{ readonly name: string; readonly change: string }>) =>
  Object.fromEntries(items.map(({ change, name }) => [name, change]))

describe.each(shells)("a plan of a deploy, in $name", (shell) => {
  it.scopedLive(
    "says what the deploy then does, and changes nothing",
    () =>
      Effect.gen(function*() {
        const { archive, asked, berth, bring, deployed, directory, home, planned, standIns } = yield* scene({
          shell: shell.path
        })
        yield* bring(archive("one"))
        const before = contents(home)
        const first = yield* planned
        expect(contents(home)).toEqual(before)
        expect(yield* asked).toEqual([])
        expect((yield* Effect.provide(Effect.flatMap(Runs, (runs) => runs.list({})), berth)).runs).toEqual([])
        expect(first).toMatchObject({
          projectPath: directory,
          remotePath: "~/containers/shop",
          obstacles: [],
          warnings: []
        })
        // The same, with a database that no backup keeps.
        const composeFile = join(directory, "compose.yml")
        const plain = readFileSync(composeFile, "utf8")
        writeFileSync(composeFile, `${plain}  db: { image: "postgres:16" }\n`)
        expect((yield* planned).warnings).toContain(
          "no item of \"backups\" in container.json keeps the database of db (postgres): " +
            "{ \"kind\": \"postgres\", \"service\": \"db\" } would"
        )
        writeFileSync(composeFile, plain)
        expect(changes(first.files)).toEqual({ ".env": "new", "compose.yml": "new", "conf/a b'c": "new" })
        expect(first.images).toEqual([{
          name: "shop:latest",
          change: "new",
          bytesToSend: archive("one").length,
          platform: expect.stringMatching(/^linux\/\w+$/)
        }])
        expect(first.services).toEqual([{ name: "web", change: "create" }])
        expect(first.bytesToSend).toBe(first.bytesTotal)
        yield* deployed

        const none = yield* planned
        expect([...none.files, ...none.images].every(({ change }) => change === "same")).toBe(true)
        expect(none).toMatchObject({ services: [{ name: "web", change: "keep" }], bytesToSend: 0 })
        const calls = (yield* standIns.dockerCalls).length
        expect((yield* planned).planHash).toBe(none.planHash)
        expect((yield* standIns.dockerCalls).slice(calls).map(({ args }) => args[0])).not.toContain("load")

        yield* bring(archive("two"))
        writeFileSync(join(directory, "compose.yml"), "services:\n  api:\n    image: shop:latest\n")
        rmSync(join(directory, ".env"))
        const next = yield* planned
        expect(changes(next.files)).toEqual({ ".env": "removed", "compose.yml": "changed", "conf/a b'c": "same" })
        expect(next.images).toMatchObject([{ name: "shop:latest", change: "changed" }])
        expect(next.images[0]?.bytesToSend).toBeLessThan(10_000)
        expect(changes(next.services)).toEqual({ api: "create", web: "remove" })
        expect(next.warnings).toEqual([
          "the service web has containers there and is not in compose.yml: they are removed (\"keepOrphans\": true in container.json keeps them)"
        ])
        expect(next.bytesToSend).toBeLessThan(next.bytesTotal)
      }),
    60_000 * patience
  )
})

describe("a plan of a deploy", () => {
  it.scopedLive(
    "names the stack that has a port, and the deploy stops for the same reason",
    () =>
      Effect.gen(function*() {
        const { archive, bring, deployed, directory, home, planned, program } = yield* scene()
        yield* bring(archive("one"))
        const other = join(home, "containers/other")
        yield* program(
          "docker",
          `case "$*" in *.Ports*) printf '${other}\\tother\\tother-web-1\\t0.0.0.0:8080->80/tcp, [::]:8080->80/tcp\\n' ;; ` +
            "*) exec \"$STAND_INS/docker\" \"$@\" ;; esac"
        )
        const service = (ports: string) =>
          writeFileSync(
            join(directory, "compose.yml"),
            `services:\n  web:\n    image: shop:latest\n    ports: ${ports}\n`
          )
        const taken = "port 8080 of the service web is taken on \"Main\" by the stack in " +
          `${other} (container other-web-1): publish another port in compose.yml, or stop that container`
        writeFileSync(join(directory, ".env"), "PORT=8080\n")
        for (const ports of ["[\"8080:80\"]", "[\"127.0.0.1:${PORT}:80\"]", "[{ target: 80, published: 8080 }]"]) {
          service(ports)
          expect((yield* planned).obstacles, ports).toEqual([taken])
          expect((yield* Effect.flip(deployed)).message).toBe(
            `Deploy failed at preflight: ${taken}. Nothing on the server was changed`
          )
        }
        service("[\"80\", \"8080:80/udp\", \"8081:8080\", \"${OTHER:-8082}:80\"]")
        expect(yield* planned).toMatchObject({ obstacles: [], warnings: [] })
      }),
    60_000 * patience
  )

  it.scopedLive("warns of variables that become empty, and refuses what Compose would", () =>
    Effect.gen(function*() {
      const { archive, bring, directory, planned } = yield* scene()
      yield* bring(archive("one"))
      const service = (environment: string) =>
        writeFileSync(
          join(directory, "compose.yml"),
          `services:\n  web:\n    image: shop:latest\n    environment:\n${environment}`
        )
      service("      A: $A\n      B: ${MISSING}\n      C: ${OTHER:-x} $$NOT $HOME\n      D: $MISSING ${E:-${LATER}}\n")
      expect((yield* planned).warnings).toEqual([
        "MISSING is not set in .env and has no default: it becomes empty in compose.yml:6",
        "LATER is not set in .env and has no default: it becomes empty in compose.yml:8"
      ])
      service("      A: ${MISSING:?say which}\n")
      expect((yield* Effect.flip(planned)).message).toMatch(
        /compose\.yml:5:10: services\.web\.environment\.A: MISSING is not set: say which$/
      )
    }), 60_000 * patience)
})

describe("a plan with an image for another processor", () => {
  it.scopedLive("has it as an obstacle, and the deploy sends nothing", () =>
    Effect.gen(function*() {
      const { archive, asked, bring, deployed, home, planned } = yield* scene()
      yield* bring(archive("one", { architecture: "s390x" }))
      const before = contents(home)
      const obstacle = /^shop:latest is a linux\/s390x image, and "Main" is a linux\/\w+ server: build it for that/
      expect(yield* planned).toMatchObject({
        obstacles: [expect.stringMatching(obstacle)],
        images: [{ platform: "linux/s390x" }]
      })
      expect((yield* Effect.flip(deployed)).message).toMatch(
        /^Deploy failed at preflight: shop:latest is a linux\/s390x image/
      )
      expect(yield* asked).toEqual([])
      expect(contents(home)).toEqual(before)
    }), 60_000 * patience)
})

describe("a plan of a service that the server builds", () => {
  it.scopedLive(
    "says that its image is built anew, and why; a build that fails leaves what runs",
    () =>
      Effect.gen(function*() {
        const { archive, bring, deployed, directory, planned } = yield* scene()
        yield* bring(archive("one"))
        yield* deployed
        rmSync(join(directory, "shop.tar"))
        mkdirSync(join(directory, "web"))
        writeFileSync(join(directory, "web/index.html"), "two")
        writeFileSync(join(directory, "container.json"), "{ \"files\": [\"web\"] }")
        writeFileSync(join(directory, "compose.yml"), "services:\n  web:\n    image: shop:latest\n    build: ./web\n")
        expect(yield* planned).toMatchObject({
          images: [{ change: "changed", buildReason: "web/index.html changed" }],
          services: [{ name: "web", change: "recreate" }]
        })
        expect((yield* Effect.flip(deployed)).message).toMatch(
          /^Deploy failed at build: docker stand-in: it does not build images: load them\. The previous version is still running$/
        )
      }),
    60_000 * patience
  )
})

describe("a plan with a tar that holds files", () => {
  it.scopedLive(
    "has it as an obstacle, and the deploy is refused for the project's sake",
    () =>
      Effect.gen(function*() {
        const { bring, deployed, home, planned } = yield* scene()
        yield* bring(tar([{ name: "etc/hostname", content: "web" }]))
        const before = contents(home)
        expect((yield* planned).obstacles).toEqual([expect.stringMatching(/^shop\.tar is not an image archive: /)])
        expect(yield* Effect.flip(deployed)).toMatchObject({
          status: 422,
          message: expect.stringMatching(/^Deploy failed at preflight: .*shop\.tar is not an image archive: /)
        })
        expect(contents(home)).toEqual(before)
      }),
    60_000 * patience
  )
})

describe("the bytes of a plan", () => {
  const kinds = [
    ["the archive's layers where they can be sent alone", "overlay2", "auto"],
    ["the archive whole, which is loaded as it comes", "overlayfs", "auto"],
    ["the archive as a file", "overlay2", "full"]
  ] as const
  it.scopedLive.each(inTurn(kinds, 0))(
    "are those that the deploy says it has sent: %s",
    ([, driver, mode]) =>
      Effect.gen(function*() {
        const { archive, bring, deployed, directory, planned, standIns } = yield* scene({
          settings: { "deploy.transfer": mode }
        })
        yield* standIns.setStorageDriver(driver)
        const changes = [
          () => bring(archive("one")),
          () => Effect.void,
          () => Effect.sync(() => writeFileSync(join(directory, ".env"), `A=${"x".repeat(242)}\n`)),
          () => Effect.sync(() => writeFileSync(join(directory, ".env"), `A=${"y".repeat(1_500)}\n`)),
          () => bring(archive("two")),
          () =>
            Effect.zipRight(bring(archive("three")), Effect.sync(() => writeFileSync(join(directory, ".env"), "B=1\n")))
        ]
        for (const change of changes) {
          yield* change()
          const { bytesToSend, bytesTotal } = yield* planned
          const { message } = yield* deployed
          const [sent, all] = [formatBytes(bytesToSend), formatBytes(bytesTotal)]
          expect(message).toContain(bytesToSend === 0 ? `Nothing of ${all} had to be sent.` : `Sent ${sent} of ${all}.`)
        }
      }),
    60_000 * patience
  )
})

describe("a deploy that is held to a plan", () => {
  it.scopedLive(
    "is done while nothing moved, and refused with what moved, and nothing done",
    () =>
      Effect.gen(function*() {
        const { archive, bring, deployedWith, directory, home, planned, plannedWith, remote, standIns } = yield* scene()
        const local = (name: string, text: string | Uint8Array) => writeFileSync(join(directory, name), text)
        const there = (name: string, text: string) => writeFileSync(join(remote, name), text)
        const docker = (...args: ReadonlyArray<string>) =>
          spawnSync(join(standIns.bin, "docker"), args, { env: { ...process.env, ...standIns.env } })
        const compose = readFileSync(join(directory, "compose.yml"), "utf8")
        yield* bring(archive("one"))
        const { planHash: first } = yield* planned
        local("conf/a b'c", "y")
        const early = yield* Effect.flip(deployedWith({ planHash: first }))
        expect(early).toMatchObject({ _tag: "DeployPlanMoved", status: 409 })
        expect(early.message).toBe(
          "The plan for ~/containers/shop on \"Main\" no longer holds: a file of container.json has changed. " +
            "Nothing was changed. Make a new plan, and send its planHash"
        )
        // Not even a directory for the lock.
        expect(readdirSync(home)).toEqual([])

        expect(yield* deployedWith({ planHash: (yield* planned).planHash })).toMatchObject({ healthy: true })
        const { planHash } = yield* planned
        const moves: ReadonlyArray<readonly [words: string, move: () => void, undo: () => void]> = [
          [
            "the list of variables in the env files has changed.",
            () => local(".env", "B=1\n"),
            () => local(".env", "A=1\n")
          ],
          [
            "the compose file has changed; a value in the env files has changed; the image archive has changed.",
            () => {
              local(".env", "A=2\n")
              local("compose.yml", `${compose}#\n`)
              local("shop.tar", archive("two"))
            },
            () => {
              local(".env", "A=1\n")
              local("compose.yml", compose)
              local("shop.tar", archive("one"))
            }
          ],
          [
            "a file on the server has changed; what runs there has changed; the release there is now 20260102-7.",
            () => {
              there("conf/a b'c", "edited")
              docker("stop", "shop-web-1")
              there(".berth/current", "20260102-7\n")
            },
            () => {
              there("conf/a b'c", "y")
              docker("start", "shop-web-1")
              there(".berth/current", "1\n")
            }
          ]
        ]
        for (const [words, move, undo] of moves) {
          move()
          const before = contents(remote)
          const calls = (yield* standIns.dockerCalls).length
          expect((yield* Effect.flip(deployedWith({ planHash }))).message).toContain(`no longer holds: ${words}`)
          expect(contents(remote)).toEqual(before)
          const since = (yield* standIns.dockerCalls).slice(calls).map(({ args }) => args.join(" "))
          expect(since.filter((call) => /\b(load|tag|up|stop|rm)\b/.test(call))).toEqual([])
          undo()
        }
        expect(yield* deployedWith({ planHash })).toMatchObject({ uploadedFiles: [] })

        // Options of a deploy are part of the plan, whatever their source.
        const wishes = { pull: "never", onUnhealthy: "keep" } as const
        for (const wish of [{ pull: wishes.pull }, { onUnhealthy: wishes.onUnhealthy }]) {
          expect((yield* Effect.flip(deployedWith({ planHash, ...wish }))).message).toContain(
            "a setting of deploys has changed"
          )
        }
        local("container.json", JSON.stringify({ files: ["conf"], ...wishes }))
        expect((yield* planned).planHash).toBe((yield* plannedWith(wishes)).planHash)
      }),
    60_000 * patience
  )

  it.scopedLive("is checked again once it has the lock", () =>
    Effect.gen(function*() {
      const { archive, bring, deployedWith, directory, planned, program } = yield* scene()
      yield* bring(archive("one"))
      const { planHash } = yield* planned
      // The value has changed when the lock is acquired.
      yield* program("flock", `PATH=\${PATH#*:}\necho A=2 >'${join(directory, ".env")}'\nexec flock "$@"`)
      expect((yield* Effect.flip(deployedWith({ planHash }))).message).toContain("a value in the env files has changed")
    }))

  it.scopedLive("does not know the plan of another Berth, or for another path", () =>
    Effect.gen(function*() {
      const { archive, bring, deployedWith, planned } = yield* scene()
      yield* bring(archive("one"))
      const { planHash } = yield* planned
      expect((yield* Effect.flip(deployedWith({ planHash, remotePath: "~/elsewhere" }))).message)
        .toContain("what is deployed, or where to, has changed")
      const other = yield* scene({ settings: { "platform.token": Redacted.make("t-0123456789") } })
      yield* other.bring(other.archive("one"))
      expect((yield* Effect.flip(other.deployedWith({ planHash }))).message).toContain("made by another Berth")
    }))
})

describe("a plan of a project with programs that nobody trusts", () => {
  it.scopedLive(
    "runs none of them, and tells a caller with a token which keep the deploy and the build away",
    () =>
      Effect.gen(function*() {
        const { archive, bring, directory, planned } = yield* scene({ settings: { "projects.anywhere": true } })
        yield* bring(archive("one"))
        const ran = join(directory, "ran")
        const touch = ["touch", ran]
        writeFileSync(
          join(directory, "container.json"),
          JSON.stringify({ hooks: { beforeDeploy: [touch] }, secrets: { WORD: { command: touch } } })
        )
        writeFileSync(join(directory, "build-image-tar.sh"), `touch '${ran}'\n`)
        const asAnn = Effect.provideService(planned, CurrentCaller, { name: "Ann", role: "operator" })
        const { obstacles, programs = [], warnings } = yield* asAnn
        expect(obstacles).toEqual([
          expect.stringMatching(
            /^(?=.*hook beforeDeploy 1)(?=.*secret WORD).*: have it trusted on the service's machine/
          )
        ])
        expect(warnings).toContainEqual(
          expect.stringMatching(/^it cannot be built, as build-image-tar\.sh .*: have it trusted/)
        )
        expect(programs.map(({ name, state }) => [name, state])).toEqual(
          expect.arrayContaining([["build-image-tar.sh", "new"], ["beforeDeploy 1", "new"], ["WORD", "new"]])
        )
        expect(existsSync(ran)).toBe(false)
      }),
    60_000 * patience
  )
})
