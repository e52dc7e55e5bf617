import { Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Layer, Schema } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { buildStartHookLines, listPlannedHooks, runLocalHook, toHooks } from "../../src/pipelines/hooks.ts"
import { DeployHooks, describeHook } from "../../src/schema/deploys.ts"
import { CurrentCaller } from "../../src/services/access/Caller.ts"
import { LocalFilesLive } from "../../src/services/local/LocalFiles.ts"
import { LocalProcessesLive } from "../../src/services/local/LocalProcesses.ts"
import { StepsLive } from "../../src/services/runs/Steps.ts"
import { settingsTest } from "../../src/testing/SettingsTest.ts"
import { temporaryDirectory } from "../layers/temporary.ts"

const decode = Schema.decodeUnknownEither(DeployHooks)

describe("hooks of container.json", () => {
  it.each([
    [{ beforeDeploy: [["npm", "test"]] }, true],
    [{ beforeDeploy: ["npm test"] }, false],
    [{ beforeDeploy: [[]] }, false],
    [{ afterDeploy: [["sh", "-c", "a\nb"]] }, false],
    [{ afterDeploy: [["", "a"]] }, false],
    [{ beforeStart: { service: "web", command: ["a\tb"] } }, false],
    [{ beforeStart: { service: "web", command: ["migrate", ""] }, timeout: "5 minutes" }, true]
  ])("fit or do not: %j", (hooks, fits) => {
    expect(decode(hooks)._tag === "Right").toBe(fits)
  })

  it("are listed in their order, and none where there is no command", () => {
    expect(toHooks(undefined)).toBeUndefined()
    expect(toHooks({ beforeDeploy: [], timeout: Duration.minutes(1) })).toBeUndefined()
    const hooks = toHooks({
      afterDeploy: [["curl", "-f", "https://shop.test/"]],
      beforeDeploy: [["npm", "run", "a b"]],
      beforeStart: { service: "web", command: ["migrate", ""] }
    })
    expect(hooks === undefined ? [] : listPlannedHooks(hooks).map(describeHook)).toEqual([
      "beforeDeploy here: npm run \"a b\"",
      "beforeStart in web: migrate \"\"",
      "afterDeploy here: curl -f https://shop.test/"
    ])
    expect(buildStartHookLines(hooks, "run1")).toEqual([
      expect.stringMatching(/^hook\tweb\tberth-web-run-[0-9a-f]{12}\t600$/),
      "argument\txmigrate",
      "argument\tx"
    ])
    expect(buildStartHookLines(undefined, "run1")).toEqual([])
  })
})

describe.skipIf(process.platform === "win32")("local hooks", () => {
  const run = (commands: ReadonlyArray<ReadonlyArray<string>>, timeout: Duration.DurationInput = "20 seconds") =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const deploy = { directory, remotePath: "~/containers/shop", server: { name: "Main" } }
      return yield* runLocalHook(deploy, "beforeDeploy", commands, Duration.decode(timeout))
    }).pipe(
      Effect.provide(
        Layer.mergeAll(
          LocalProcessesLive,
          Layer.provide(LocalFilesLive, NodeContext.layer),
          Path.layer,
          settingsTest(),
          StepsLive
        )
      )
    )

  it.scopedLive("get no variable of Berth but those of the deploy, and no shell", () =>
    Effect.gen(function*() {
      process.env["BERTH_SSH_PASSWORD"] = "hush-hush"
      const check = "[ \"$BERTH_SERVER $BERTH_HOOK\" = 'Main beforeDeploy' ] && [ -z \"$BERTH_SSH_PASSWORD\" ]"
      expect(yield* run([["sh", "-c", check], ["test", "$HOME; exit 1", "=", "$HOME; exit 1"]])).toBe("2 commands")
    }).pipe(Effect.ensuring(Effect.sync(() => delete process.env["BERTH_SSH_PASSWORD"]))))

  it.scopedLive("stop at the first that fails, and say why", () =>
    Effect.gen(function*() {
      const reason = (commands: ReadonlyArray<ReadonlyArray<string>>, timeout?: Duration.DurationInput) =>
        Effect.map(Effect.flip(run(commands, timeout)), ({ message }) => message)
      expect(yield* reason([["sh", "-c", "echo broken; exit 3"], ["sh", "-c", "echo never; exit 4"]]))
        .toBe("sh ended with exit code 3: broken")
      expect(yield* reason([["no-such-program-of-berth"]])).toContain("Cannot run no-such-program-of-berth")
      expect(yield* reason([["sleep", "600"]], "200 millis")).toContain("sleep was stopped after 200ms")
    }))

  it.scopedLive("are checked again for a caller with a token when their turn comes", () =>
    Effect.gen(function*() {
      const made = join(yield* temporaryDirectory, "made")
      const asAnn = Effect.provideService(run([["touch", made]]), CurrentCaller, { name: "Ann", role: "operator" })
      expect((yield* Effect.flip(asAnn)).message).toBe(
        "hook beforeDeploy 1 is new, and was not run: have it trusted on the service's machine with berth trust PROJECT"
      )
      expect(existsSync(made)).toBe(false)
      yield* run([["touch", made]])
      expect(existsSync(made)).toBe(true)
    }))
})
