import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Runs } from "../../../src/services/runs/Runs.ts"
import { scene } from "../../fixtures/docker/deployScene.ts"
import { patience } from "../../fixtures/patience.ts"
import { shells } from "../../layers/RemoteHere.ts"

const well = `services:\n  web:\n    image: shop:latest\n    env_file: [.env]\n`
/** Its container ends at once; what the log of a container says is added by the server's docker. */
const ill = `${well}    command: ["sh", "-c", "exit 3"]\n`
const secret = "s3cret \"value\" $1"

const stageWith = (options: Parameters<typeof scene>[0] = {}) =>
  Effect.gen(function*() {
    const stage = yield* scene({
      ...options,
      settings: { "deploy.healthInterval": Duration.millis(100), ...options.settings }
    })
    const write = (name: string, text: string) => writeFileSync(join(stage.directory, name), text)
    yield* stage.program(
      "docker",
      `"$STAND_INS/docker" "$@" || exit
case $1 in logs) i=0; while [ "$i" -lt 25 ]; do i=$((i + 1)); printf 'line %s\\n' "$i"; done
  printf '\\033[31mpassword is %s\\033[0m\\n' '${secret}' >&2 ;; esac`
    )
    write("compose.yml", well)
    write("container.json", "{}")
    yield* stage.bring(stage.archive("one"))
    /** Makes the project's next version; nobody waits for one that does not get healthy. */
    const next = (compose: string, config: { readonly onUnhealthy?: string } = {}) => {
      write("compose.yml", compose)
      write("container.json", JSON.stringify({ ...config, ...compose === well ? {} : { healthTimeout: "100 millis" } }))
    }
    return { ...stage, next, read: (name: string) => readFileSync(join(stage.remote, name), "utf8"), write }
  })

describe.each(shells)("a new version that does not get healthy, in $name", (shell) => {
  it.scopedLive(
    "makes way for the release that ran before, and says what is wrong with it",
    () =>
      Effect.gen(function*() {
        const stage = yield* stageWith({ shell: shell.path })
        expect(yield* stage.deployed).toMatchObject({ success: true, healthy: true })
        const image = yield* stage.docker("inspect", "--format", "{{.Image}}", "shop-web-1")

        stage.next(ill)
        stage.write(".env", `A=2\nPASSWORD='${secret}'\n`)
        yield* stage.bring(stage.archive("two"))
        const result = yield* stage.deployed
        expect(result).toMatchObject({ success: false, healthy: false, status: "unhealthy" })
        expect(result.uploadedFiles).toContain("shop.tar")
        const [first, title, ...lines] = result.message.split("\n")
        expect(first).toMatch(
          /^The new version in ~\/containers\/shop on "Main" was exited after 1 second: shop-web-1 exited with code 3\. Release 1, which ran before, runs again and is healthy\. Sent /
        )
        expect(title).toBe("shop-web-1 (exited, exit code 3), the last lines of its log:")
        expect(lines).toHaveLength(20)
        expect(lines.slice(-2)).toEqual(["  line 25", "  password is ***"])

        expect(yield* stage.docker("inspect", "--format", "{{.Image}} {{.State.Status}}", "shop-web-1"))
          .toBe(`${image} running`)
        expect(stage.read("compose.yml") + stage.read(".env")).toBe(`${well}A=1\n`)
        expect((yield* stage.releases).map(({ current, id }) => [id, current])).toEqual([["1", true]])
        expect(stage.read(".berth/outcome")).toMatch(/\tundone\n$/)
        const [run] = (yield* Effect.provide(Effect.flatMap(Runs, (runs) => runs.list({})), stage.berth)).runs
        // Its endpoint answers the result; the run has not done what it was asked for.
        const { message } = result
        expect(run).toMatchObject({ state: "failed", result: { success: false, message }, error: { error: first } })
        expect(run?.steps.slice(-2)).toMatchObject([
          { step: "health", status: "error", detail: "shop-web-1 exited with code 3" },
          { step: "rollback", status: "done", detail: "release 1 runs again and is healthy" }
        ])
        expect(JSON.stringify(run)).not.toContain("s3cret")

        // Its number is not given again.
        stage.next(well)
        expect(yield* stage.deployed).toMatchObject({ success: true, healthy: true })
        expect((yield* stage.releases).map(({ id }) => id)).toEqual(["3", "1"])
      }),
    60_000 * patience
  )
})

describe("a new version that does not get healthy", () => {
  it.scopedLive(
    "stays where there is no release before it, or where the project or the request want that",
    () =>
      Effect.gen(function*() {
        const stage = yield* stageWith()
        stage.next(ill)
        const first = yield* stage.deployed
        expect(first).toMatchObject({ success: true, healthy: false, status: "exited", isFirst: true })
        const listed = yield* Effect.provide(Effect.flatMap(Runs, (runs) => runs.list({})), stage.berth)
        expect(listed.runs).toMatchObject([{
          kind: "deploy",
          state: "failed",
          result: { message: first.message },
          error: { status: 200 }
        }])
        expect(listed.runs[0]?.steps.at(-1)).toMatchObject({ step: "health", status: "error" })
        expect(first.message).toMatch(
          /^Deployed to .*: the stack is exited after .* code 3\. Sent [^\n]+\nshop-web-1 \(exited, exit code 3\), the last/
        )

        stage.next(well)
        yield* stage.deployed
        stage.next(ill, { onUnhealthy: "keep" })
        expect(yield* stage.deployed).toMatchObject({ success: true, healthy: false })
        expect((yield* stage.releases)[0]).toMatchObject({ id: "3", current: true })
        // Exited containers do not count as running before, but releases are there to roll back to.
        const later = yield* stage.deployedWith({ onUnhealthy: "rollback" })
        expect(later).toMatchObject({ success: true, healthy: false })
        expect(later).not.toHaveProperty("isFirst")
        stage.next(well)
        yield* stage.deployed
        stage.next(ill, { onUnhealthy: "keep" })
        expect(yield* stage.deployedWith({ onUnhealthy: "rollback" })).toMatchObject({ success: false })
        stage.next(ill)
        expect(yield* stage.deployedWith({ onUnhealthy: "keep" })).toMatchObject({ success: true, healthy: false })
      }),
    60_000 * patience
  )

  it.scopedLive("stays where the release before cannot be started again, which is told", () =>
    Effect.gen(function*() {
      const stage = yield* stageWith()
      yield* stage.deployed
      yield* stage.program(
        "docker",
        `case $* in *" up -d") rm -rf '${stage.remote}/.berth/releases/1/files/.env' ;; esac\nexec "$STAND_INS/docker" "$@"`
      )
      stage.next(ill)
      const { message, success } = yield* stage.deployed
      expect(success).toBe(true)
      expect(message).toMatch(
        / Release 1 could not be started again, so the new version is left as it is: .*some of its files are missing/
      )
      expect((yield* stage.releases)[0]).toMatchObject({ id: "2", current: true })
      expect(existsSync(join(stage.remote, ".berth/incoming"))).toBe(false)
    }), 60_000 * patience)

  it.scopedLive(
    "is rolled back to a release that is healthy then, and says what the health check said",
    () =>
      Effect.gen(function*() {
        const plain = "services:\n  web:\n    image: shop:latest\n"
        const stage = yield* scene({ settings: { "deploy.healthInterval": Duration.millis(50) } })
        const write = (name: string, text: string) => writeFileSync(join(stage.directory, name), text)
        write("compose.yml", plain)
        write("container.json", "{}")
        yield* stage.bring(stage.archive("one"))
        expect(yield* stage.deployed).toMatchObject({ success: true, healthy: true })

        write("compose.yml", `${plain}    command: ["sh", "-c", "exit 3"]\n`)
        write("container.json", "{\"healthTimeout\": \"2 seconds\"}")
        const result = yield* stage.deployed
        expect(result).toMatchObject({ success: false, healthy: false })
        expect(result.message).toContain("Release 1, which ran before, runs again and is healthy.")
        expect(yield* stage.docker("inspect", "--format", "{{.State.Status}}", "shop-web-1")).toBe("running")
        expect((yield* stage.releases).map(({ current, id }) => [id, current])).toEqual([["1", true]])

        write("compose.yml", `${plain}    healthcheck: { test: ["CMD", "false"] }\n`)
        const failed = yield* stage.deployed
        expect(failed).toMatchObject({ success: false, healthy: false })
        expect(failed.message.split("\n").slice(1, 3)).toEqual([
          "shop-web-1: its health check ended with 1: this is a stand-in, the health check declares a failure",
          "shop-web-1 (running), the last lines of its log:"
        ])
      }),
    60_000 * patience
  )
})
