import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { makeWorld } from "../../../src/sandbox/world.ts"
import { patience } from "../../fixtures/patience.ts"
import { runCli } from "../../fixtures/programs/cli.ts"
import { settingsFileWith, startService } from "../../fixtures/programs/service.ts"

describe.skipIf(process.platform === "win32")("the commands that read and change", () => {
  it.scopedLive(
    "work against a service, from top to bottom",
    () =>
      Effect.gen(function*() {
        const { projects, settingsFile } = yield* makeWorld
        mkdirSync(join(projects, "unplaced"))
        writeFileSync(join(projects, "unplaced/compose.yml"), "services: { web: { image: web } }\n")
        writeFileSync(join(projects, "unplaced/container.json"), "{ \"serverId\": \"\" }\n")
        mkdirSync(join(projects, "unnamed"))
        writeFileSync(join(projects, "unnamed/compose.yml"), "services: { web: { build: . } }\n")
        const { url } = yield* startService(settingsFile)
        const steps: ReadonlyArray<readonly [args: string, code: number, words: RegExp]> = [
          ["overview", 0, /^PROJECT .*\nhello .*[^]*APPLICATION[^]*Next:/],
          ["ps sandbox", 0, /^SERVER .*\nSandbox +greeter /],
          ["ps Sandbox", 0, /^SERVER .*\nSandbox +greeter /],
          ["ps sandbx", 1, /No server with the id or the name "sandbx" is stored\. Did you mean "sandbox"\?/],
          ["server stats Sandbox", 0, /^CONTAINER .*\ngreeter /],
          [
            "server stats Sandbox --minutes 30",
            0,
            /^CONTAINER +SERVICE +CPU +MEAN +MOST .*\ngreeter +greeter +0\.0% .*\nSampled for /
          ],
          ["server stats Sandbox --minutes 61", 64, /must be a whole number from 1 to 60, not "61"/],
          ["releases notes --server SANDBOX", 0, /No release yet/],
          ["logs greeter --server Sandbox", 0, /stand-in/],
          [
            "logs greeter --since soon",
            64,
            /^Error: --since must be a time like \S+, or how long ago: 30s, 10m, 2h or 1d\n$/
          ],
          ["logs greeter --server Sandbox --contains STAND-IN --until 0s", 0, /stand-in/],
          ["logs hello greeter", 1, /No project under the projects root is named "greeter"/],
          ["logs hello notes --server Sandbox", 64, /are for one project/],
          ["ps sandbox --all", 0, /^SERVER .*\nSandbox +greeter /],
          ["logs nobody", 1, /No such container: nobody\. No project is named "nobody" either/],
          ["server add Far ann@far.invalid:99999 --agent", 64, /must be a whole number from 1 to 65535, not 99999/],
          ["server add Far ssh://ann@far.invalid", 64, /must be like deployer@main\.example\.com/],
          ["server add Far ann@far.invalid --port 0", 64, /must be a whole number from 1 to 65535, not 0/],
          ["diff notes", 0, /^There is nothing to compare: \S+notes has no file to deploy/],
          [
            "init notes --dry-run",
            0,
            /^\+ container\.json\n(?:\+ .*\n){5}Would write 6 files to .*notes\.\n$/
          ],
          ["init notes --yes", 0, /\nNext: berth build notes, then berth deploy notes\n/],
          ["init unplaced --yes", 0, /^(?:\+ .*\n)*~ container\.json \(serverId\)\n/m],
          ["init unplaced --yes", 0, /Left as they are: (?:.*, )?container\.json/],
          ["deploy notes --dry-run", 0, /^Deploy notes to ~\/containers\/notes on Sandbox:/],
          ["server list", 0, /^ID .*\nsandbox /],
          ["server scan sandbox", 0, /^NAME .*\ngreeter /],
          ["diff hello", 2, /\+ compose\.yml +local-only/],
          ["stop greeter --yes --server sandbox --path ~/containers/greeter", 1, /No project is named "greeter"/],
          ["stop hello --server sandbox --path ~/containers/greeter --yes", 0, /stopped|exited/i],
          ["start hello --server sandbox --path ~/containers/greeter", 0, /healthy|start/i],
          ["releases hello", 0, /No release yet/],
          ["rollback hello --yes", 1, /There is no release/],
          ["rollback hello --dry-run", 1, /There is no release/],
          ["logs greeter", 0, /stand-in/],
          ["app drift hello", 2, /no such application yet/],
          ["app drift hello --app nobody", 1, /declares no application "nobody": it declares "hello"$/m],
          ["app drift notes", 1, /notes has no platform\.json, or an empty one, .* berth app adopt writes one/],
          ["app plan hello --detailed-exitcode", 2, /^Create hello:\n/],
          ["app up hello", 64, /no terminal to ask on: "Create hello\?" Add --yes/],
          ["app up hello --yes", 0, /hello is as declared/],
          ["app list", 0, /\nhello /],
          ["app envs hello", 0, /^HOST_PORT$/m],
          ["app show nobody", 1, /no application named "nobody"/],
          ["hook status", 0, /^APPLICATION .*[^]*hello +set +active/],
          ["port", 0, /^\d+$/m],
          ["route add other other.sandbox.test 2100 --yes", 0, /Added the route other/],
          ["route list", 0, /^ROUTE .*[^]*\nother +other\.sandbox\.test +\S+:2100 +berth$/m],
          ["route add other other.sandbox.test 2101 --dry-run", 1, /taken/],
          ["route remove other --dry-run", 0, /^ {2}-.*other\.sandbox\.test/m],
          ["route remove other", 64, /-.*other\.sandbox\.test[^]*ask on: "Remove the route other\?" Add --yes/],
          ["route remove other --yes", 0, /Removed the route other/],
          ["route remove other --yes", 0, /There is no route other: nothing was changed/],
          ["app servers", 0, /^NAME /],
          ["app changelog hello", 0, /^1 {2}hello created at /],
          ["app changelog hello --app nobody", 0, /No upsert yet/],
          ["server test sandbox", 0, /✓ log-in: [^]*✓ docker: [^]*Berth can deploy there/],
          ["server test nobody", 1, /No server with the id or the name "nobody" is stored/],
          ["server test nobody@127.0.0.1:1", 1, /✗ log-in: [^]*Berth cannot deploy there yet/],
          ["server test @x", 64, /must be like deployer@main\.example\.com/],
          ["runs", 0, /upsert +hello +succeeded/],
          ["doctor", 0, /✓ settings: /],
          [
            "server add sandbox ann@far.invalid --agent",
            1,
            /"sandbox" would be mistaken for the stored server Sandbox.*: berth server add sandbox ann@far\.invalid --id sandbox --agent$/m
          ],
          [
            "server add Bare ann@bare.invalid --id bare --sudo",
            0,
            /^Stored Bare with the id bare\. No credential of Bare is stored, .*: berth server add Bare ann@bare\.invalid --id bare --sudo --key ~\/\.ssh\/id_ed25519$/m
          ],
          [
            "server add Bare ann@bare.invalid --id bare --agent",
            0,
            /with the id bare\. Next: berth server test Bare$/m
          ],
          // Credentials of the same log-in are kept.
          ["server add Bare ann@bare.invalid --id bare", 0, /with the id bare\. Next: berth server test Bare$/m],
          ["server add Bare eve@bare.invalid --id bare", 0, /with the id bare\. No credential of Bare is stored/],
          ["server remove bare --yes", 0, /Forgot the server Bare/],
          ["server add Far ann@far.invalid --agent --id sandBOX", 1, /The id "sandBOX" would be mistaken/],
          [
            "server add Far ann@far.invalid --agent --id far",
            0,
            /^Stored Far with the id far\. Next: berth server test Far$/m
          ],
          ["server add Farther ann@far.invalid --agent --id far", 0, /^Replaced Farther with the id far\./m],
          ["server add Near ann@near.invalid --agent", 0, /with the id \d+\. Next: berth server test Near$/m],
          [
            "init unnamed --yes",
            0,
            /unnamed does not say which server[^]*Stored servers: Sandbox, .*\nNext: berth deploy unnamed --build\n$/
          ],
          ["logs nobody", 1, /does not say which server[^]*Stored servers: Sandbox, Farther, Near/],
          ["ps sandbox", 0, /^SERVER /]
        ]
        for (const [args, code, words] of steps) {
          const ran = yield* runCli({ url }, args.split(" "))
          expect(ran.out + ran.err, args).toMatch(words)
          expect(ran.code, args + ran.err).toBe(code)
        }
        const json = yield* runCli({ url }, ["app", "list", "--json"])
        expect(JSON.parse(json.out)).toHaveLength(2)
      }).pipe(Effect.provide(NodeContext.layer)),
    120_000 * patience
  )

  it.scopedLive("do not take for a failure what nobody has set up", () =>
    Effect.gen(function*() {
      const file = yield* settingsFileWith("projects: { root: /tmp }\n")
      const { url } = yield* startService(file)
      const { code, err, out } = yield* runCli({ url }, ["doctor"])
      expect(out).toContain("✓ settings: ")
      expect(out).toContain("- platform: not set up\n- git host: not set up\n- proxy file: not set up\n")
      expect(out).not.toContain("✗")
      expect((yield* runCli({ url }, ["ps"])).err).toBe("No server is stored yet: add one with berth server add.\n")
      expect(err).toMatch(/all that is set up is well\.\nWhat is not set up waits for its settings/)
      expect(code).toBe(0)
      rmSync(file)
      const fresh = yield* runCli({ url }, ["doctor"])
      expect(fresh.out).toContain(
        `- settings: ${file} does not exist yet: all settings are the defaults\n` +
          "  → Run berth server add, which makes it with your first server in it\n"
      )
      expect(fresh.out).toContain("- platform: not set up\n")
      expect(fresh.out).not.toContain("✗ settings")
      expect(yield* runCli({ url }, ["ps", "main"])).toMatchObject({
        code: 1,
        err: expect.stringContaining("No server is stored in the settings that are used here: berth doctor says which")
      })
      const project = join(dirname(file), "app")
      mkdirSync(project)
      writeFileSync(join(project, "compose.yml"), "services: { web: { image: nginx } }\n")
      const inited = (...args: ReadonlyArray<string>) => runCli({ url }, ["init", project, ...args])
      expect((yield* inited("--dry-run")).out).toBe("+ container.json\n")
      expect(existsSync(join(project, "container.json"))).toBe(false)
      expect((yield* inited("--yes")).err).toMatch(
        /! No server is stored yet: .* does not exist\.\nNext: berth deploy \S+app\n$/
      )
      for (const way of [{ url }, { settingsFile: file }]) {
        for (const args of [["ps"], ["server", "list"], ["releases", dirname(file)]]) {
          expect([args, (yield* runCli(way, args)).err]).toEqual([
            args,
            expect.stringContaining(
              `No server is stored yet: add one with berth server add. The settings file ${file} does not exist`
            )
          ])
        }
      }
    }), 60_000 * patience)
})
