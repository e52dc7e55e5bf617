import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { planRollback } from "../../../src/pipelines/releases/rollback.ts"
import { Runs } from "../../../src/services/runs/Runs.ts"
import { killScript, scene } from "../../fixtures/docker/deployScene.ts"
import { patience } from "../../fixtures/patience.ts"
import { slow } from "../../fixtures/thorough.ts"
import { shells } from "../../layers/RemoteHere.ts"

/** A server with two releases: the second one has another image and other files. */
const twoReleases = (options: Parameters<typeof scene>[0] = {}, store = "overlay2") =>
  Effect.gen(function*() {
    const stage = yield* scene(options)
    const { archive, bring, deployed, directory, docker, remote, standIns } = stage
    yield* standIns.setStorageDriver(store)
    const write = (name: string, text: string) => writeFileSync(join(directory, name), text)
    const compose = (more: string) => write("compose.yml", `services:\n  web:\n    image: shop:latest\n${more}`)
    compose("    env_file: [web.env]\n")
    write("web.env", "W=1\n")
    write("conf/back\\slash", "1")
    yield* bring(archive("one"))
    yield* deployed
    compose("    env_file: [other.env]\n")
    rmSync(join(directory, "web.env"))
    write("other.env", "O=1\n")
    write(".env", "A=2\n")
    write("conf/back\\slash", "2")
    yield* bring(archive("two"))
    yield* deployed
    const read = (name: string) => readFileSync(join(remote, name), "utf8")
    const there = (...names: ReadonlyArray<string>) => names.map((name) => existsSync(join(remote, name)))
    const [second, first] = yield* stage.releases
    return {
      ...stage,
      first: first?.images[0]?.id ?? "",
      second: second?.images[0]?.id ?? "",
      is: docker("image", "inspect", "--format", "{{.Id}}", "shop:latest"),
      runs: docker("ps", "--no-trunc", "--format", "{{.Image}} {{.State}}"),
      runsImage: docker("inspect", "--format", "{{.Image}}", "shop-web-1"),
      changes: Effect.map(standIns.dockerCalls, (calls) =>
        calls.map(({ args }) => args.join(" ")).filter((line) => /^(load|tag|rmi)\b| up -d/.test(line))),
      read,
      there
    }
  })

const isAtFirst = (stage: Effect.Effect.Success<ReturnType<typeof twoReleases>>) =>
  Effect.gen(function*() {
    expect(yield* stage.runsImage).toBe(stage.first)
    expect(yield* stage.is).toBe(stage.first)
    expect(stage.read(".env") + stage.read("web.env") + stage.read("conf/back\\slash")).toBe("A=1\nW=1\n1")
    expect(stage.read("compose.yml")).toContain("web.env")
    expect(stage.there("web.env", "other.env", ".berth/incoming", ".berth/staged", ".berth/previous"))
      .toEqual([true, false, false, false, false])
    expect(statSync(join(stage.remote, ".env")).mode & 0o777).toBe(0o600)
  })

describe.each(shells)("a rollback, in $name", (shell) => {
  it.scopedLive(
    "brings files and images of the release before back, without the project",
    () =>
      Effect.gen(function*() {
        const stage = yield* twoReleases({ shell: shell.path })
        rmSync(stage.directory, { recursive: true })
        const result = yield* stage.rolledBack()
        expect(result).toMatchObject({ success: true, healthy: true, status: "healthy", uploadedFiles: [] })
        expect(result.message).toMatch(
          /^Rolled back ~\/containers\/shop on "Main" to release 1 of \d{4}-.*Z: the stack is healthy\. Removed from the server, no longer in the project: other\.env\.$/
        )
        yield* isAtFirst(stage)
        const [run] = (yield* Effect.provide(Effect.flatMap(Runs, (runs) => runs.list({})), stage.berth)).runs
        expect(run).toMatchObject({ kind: "rollback", state: "succeeded", result })
        expect(run?.steps.map(({ step }) => step)).toEqual(["preflight", "stage", "load", "start", "health"])

        // It is a release itself, and the one before it is what ran before.
        expect((yield* stage.releases).map(({ current, id, images }) => [id, current, images[0]?.id])).toEqual([
          ["3", true, stage.first],
          ["2", false, stage.second],
          ["1", false, stage.first]
        ])
        yield* stage.rolledBack()
        expect(yield* stage.runsImage).toBe(stage.second)
        expect(stage.there("web.env", "other.env")).toEqual([false, true])
      }),
    60_000 * patience
  )
})

describe("a rollback", () => {
  // releases.test.ts covers the choice of the release too.
  it.scopedLive.runIf(slow)(
    "goes to the release that is named, on containerd's store too",
    () =>
      Effect.gen(function*() {
        const stage = yield* twoReleases({}, "overlayfs")
        yield* stage.deployed
        yield* stage.rolledBack("1")
        yield* isAtFirst(stage)
        const loads = (yield* stage.changes).filter((line) => line.startsWith("load"))
        expect(loads).toHaveLength(2)
      }),
    60_000 * patience
  )

  it.scopedLive(
    "says beforehand and afterwards why a service that may be bridged is not",
    () =>
      Effect.gen(function*() {
        const stage = yield* twoReleases()
        const planned = Effect.provide(planRollback({ serverId: "1", remotePath: "~/containers/shop" }), stage.berth)
        const files = [
          { name: "compose.yml", change: "changed" },
          { name: ".env", change: "changed" },
          { name: "web.env", change: "new" },
          { name: "conf/a b'c", change: "same" },
          { name: "conf/back\\slash", change: "new" },
          { name: "other.env", change: "removed" }
        ]
        const undeclared = yield* planned
        expect(undeclared).toMatchObject({ release: { id: "1", current: false }, obstacles: [], warnings: [] })
        const changes = undeclared.files.map(({ change, name }) => ({ name, change }))
        expect(changes.toSorted((one, other) => one.name.localeCompare(other.name)))
          .toEqual(files.toSorted((one, other) => one.name.localeCompare(other.name)))
        expect(undeclared.services).toEqual([{ name: "web", change: "recreate" }])
        // The deploy of what runs now has declared it.
        writeFileSync(join(stage.directory, "container.json"), JSON.stringify({ files: ["conf"], bridged: ["web"] }))
        yield* stage.deployed
        const reason = "the setting proxy.configFile is missing"
        expect((yield* planned).services).toEqual([{ name: "web", change: "keep", rollout: null, routes: [] }])
        const toFirst = planRollback({ serverId: "1", remotePath: "~/containers/shop", release: "1" })
        const plan = yield* Effect.provide(toFirst, stage.berth)
        const expected = {
          name: "web",
          change: "recreate",
          rollout: "recreate",
          rolloutReason: expect.anything(),
          routes: []
        }
        expect(plan.services).toEqual([expected])
        const { message } = yield* stage.rolledBack("1")
        const why = String(plan.services[0]?.rolloutReason)
        expect([reason, "it publishes no port"]).toContain(why)
        expect(message).toContain(` web was recreated without a bridge: ${why}.`)
        yield* isAtFirst(stage)
        // The declaration goes on with the release.
        const [current] = yield* stage.releases
        expect(current).toMatchObject({ id: "4", current: true })
        expect(stage.read(".berth/releases/4/note")).toMatch(/^bridged\tweb$/m)
      }),
    60_000 * patience
  )

  it.scopedLive("to what is not there is refused before anything changes", () =>
    Effect.gen(function*() {
      const stage = yield* twoReleases()
      const before = yield* stage.changes
      const unknown = yield* Effect.flip(stage.rolledBack("7"))
      expect(unknown).toMatchObject({ _tag: "ReleaseNotFound", status: 404 })
      expect(unknown.message).toBe(
        "There is no release \"7\" in ~/containers/shop on \"Main\". Known releases: 2 (the current one), 1. Nothing was changed"
      )
      const names = (yield* stage.docker("image", "ls", "--format", "{{.ID}} {{.Repository}}:{{.Tag}}")).split("\n")
      for (const line of names.filter((line) => line.startsWith(stage.first))) {
        yield* stage.docker("rmi", line.split(" ")[1] ?? "")
      }
      expect((yield* stage.releases).map(({ available }) => available)).toEqual([true, false])
      const failed = yield* Effect.flip(stage.rolledBack())
      expect(failed).toMatchObject({ _tag: "ReleaseUnavailable", status: 409 })
      expect(failed.message).toMatch(
        /^Release 1 cannot run: "Main" no longer has shop:latest \(sha256:\w{12}\)\. Nothing was changed: release 2 is still the current one\. Deploy the project again$/
      )
      expect(yield* stage.runsImage).toBe(stage.second)
      expect((yield* stage.changes).filter((line) => !line.startsWith("rmi"))).toEqual(before)

      rmSync(join(stage.remote, ".berth/releases"), { recursive: true })
      expect((yield* Effect.flip(stage.rolledBack())).message).toMatch(/^There is no release to go back to in /)
    }), 60_000 * patience)

  it.scopedLive("whose start fails leaves the current release as it was", () =>
    Effect.gen(function*() {
      const stage = yield* twoReleases()
      const failed = join(stage.home, "failed")
      yield* stage.program(
        "docker",
        `case $* in *" up -d") [ -e '${failed}' ] || { : >'${failed}'; echo no >&2; exit 1; } ;; esac\nexec "$STAND_INS/docker" "$@"`
      )
      const { message } = yield* Effect.flip(stage.rolledBack())
      expect(message).toBe("Rollback failed at start: no. The previous version is running again")
      expect(yield* stage.runsImage).toBe(stage.second)
      expect(stage.read(".env") + stage.read("other.env")).toBe("A=2\nO=1\n")
      expect((yield* stage.releases).map(({ current }) => current)).toEqual([true, false])
    }), 60_000 * patience)

  it.scopedLive("that is killed on the server is done again, or undone by hand", () =>
    Effect.gen(function*() {
      const stage = yield* twoReleases()
      const killed = join(stage.home, "killed")
      yield* stage.program(
        "docker",
        `case $* in *" up -d") [ -e '${killed}' ] || { : >'${killed}'; ${killScript}; } ;; esac\nexec "$STAND_INS/docker" "$@"`
      )
      const { message } = yield* Effect.flip(stage.rolledBack())
      expect(message).toMatch(/^Rollback failed at start: .*\.berth\/restore\.sh/)
      expect((yield* stage.releases).map(({ current }) => current)).toEqual([false, false])
      const restored = spawnSync("sh", [join(stage.remote, ".berth/restore.sh")], {
        encoding: "utf8",
        env: {
          ...process.env,
          ...stage.standIns.env,
          STAND_INS: stage.standIns.bin,
          PATH: stage.path.concat(process.env["PATH"] ?? "").join(":")
        }
      })
      expect(restored).toMatchObject({ status: 0, stdout: expect.stringContaining("the previous version is back") })
      expect(yield* stage.runsImage).toBe(stage.second)
      expect((yield* stage.releases).map(({ current }) => current)).toEqual([true, false])

      rmSync(killed)
      yield* Effect.flip(stage.rolledBack())
      expect(yield* stage.rolledBack("1")).toMatchObject({ healthy: true })
      yield* isAtFirst(stage)
      expect(readdirSync(join(stage.remote, ".berth"))).not.toContain("before")
    }), 60_000 * patience)
})
