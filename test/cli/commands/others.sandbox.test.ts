import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeWorld } from "../../../src/sandbox/world.ts"
import { runCli } from "../../fixtures/cli.ts"
import { startService } from "../../fixtures/service.ts"

describe.skipIf(process.platform === "win32")("the commands that read and change", () => {
  it.scopedLive(
    "work against a service, from top to bottom",
    () =>
      Effect.gen(function*() {
        const { settingsFile } = yield* makeWorld
        const { url } = yield* startService(settingsFile)
        const steps: ReadonlyArray<readonly [args: string, code: number, words: RegExp]> = [
          ["overview", 0, /^PROJECT .*\nhello .*[^]*APPLICATION[^]*Next:/],
          ["ps sandbox", 0, /^SERVER .*\nsandbox +greeter /],
          ["server list", 0, /^ID .*\nsandbox /],
          ["server scan sandbox", 0, /^NAME .*\ngreeter /],
          ["diff hello", 2, /\+ compose\.yml +local-only/],
          ["stop greeter --yes --server sandbox --path ~/containers/greeter", 1, /No project is named "greeter"/],
          ["stop hello --server sandbox --path ~/containers/greeter --yes", 0, /stopped|exited/i],
          ["start hello --server sandbox --path ~/containers/greeter", 0, /healthy|start/i],
          ["releases hello", 0, /No release yet/],
          ["rollback hello --yes", 1, /Error: /],
          ["logs greeter", 0, /stand-in/],
          ["app drift hello", 2, /no such application yet/],
          ["app plan hello --detailed-exitcode", 2, /^create hello:\n/],
          ["app up hello", 64, /no terminal to ask on: "Create hello\?" Add --yes/],
          ["app up hello --yes", 0, /hello is as declared/],
          ["app list", 0, /\nhello /],
          ["app envs hello", 0, /^HOST_PORT$/m],
          ["app show nobody", 1, /no application named "nobody"/],
          ["hook status", 0, /^APPLICATION .*[^]*hello +set +active/],
          ["port", 0, /^\d+$/m],
          ["route add other other.sandbox.test 2100", 0, /Added the route other/],
          ["route remove other --yes", 0, /Removed the route other/],
          ["runs", 0, /upsert of hello +succeeded/],
          ["doctor", 0, /✓ settings: /]
        ]
        for (const [args, code, words] of steps) {
          const ran = yield* runCli({ url }, args.split(" "))
          expect(ran.out + ran.err, args).toMatch(words)
          expect(ran.code, args + ran.err).toBe(code)
        }
        const json = yield* runCli({ url }, ["app", "list", "--json"])
        expect(JSON.parse(json.out)).toHaveLength(2)
      }).pipe(Effect.provide(NodeContext.layer)),
    120_000
  )
})
