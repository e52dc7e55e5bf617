import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Logger, Predicate, Redacted, Scope } from "effect"
import { join } from "node:path"
import type { CommandNode } from "../../../src/cli/parse.ts"
import { berthCommand } from "../../../src/cli/program.ts"
import { tools } from "../../../src/mcp/server.ts"
import { appUuid, leakedTo, makeCanaryWorld } from "../../fixtures/hostile/canaryWorld.ts"
import { addressOf, operations, type Parts } from "../../fixtures/hostile/operations.ts"
import { soundRequests } from "../../fixtures/hostile/soundRequests.ts"
import { spansOf } from "../../fixtures/network/collector.ts"
import { patience } from "../../fixtures/patience.ts"
import { agents } from "../../fixtures/programs/agents.ts"
import { runCli } from "../../fixtures/programs/cli.ts"
import { startService } from "../../fixtures/programs/service.ts"

type Role = "viewer" | "operator"
interface Answer {
  readonly role: Role
  readonly door: "endpoint" | "tool" | "command" | "log" | "collector"
  readonly name: string
  readonly text: string
}

/** Every command that asks the service, with its arguments. */
const lines: ReadonlyArray<string> = [
  "overview",
  "ps",
  "deploy hello --dry-run",
  "deploy hello --yes",
  "build hello",
  "diff hello",
  "init notes --yes",
  "trust hello --show",
  "trust hello --yes",
  "secrets list hello",
  "secrets check hello",
  "secrets recipients list hello",
  "secrets recipients add hello age1none",
  "secrets recipients remove hello age1none",
  "secrets set hello NONE",
  "server disk sandbox",
  "server prune sandbox --dry-run",
  "pull .env hello",
  "releases hello",
  "releases hello 1",
  "rollback hello --yes",
  "backup hello",
  "backups hello",
  "backups hello 1 --verify",
  "restore hello 1 --yes",
  "restart hello --yes",
  "stop hello --yes",
  "start hello",
  "logs hello --lines 3",
  "notify list",
  "notify test team",
  "server list",
  "server scan sandbox",
  "adopt sandbox",
  "server stats sandbox",
  "server test sandbox",
  "server test spare",
  "server add Attic nobody@127.0.0.1 --agent",
  "server remove spare --yes",
  "app list",
  "app show hello",
  "app envs hello --values",
  "app servers",
  "app plan hello",
  "app up hello --yes",
  "app drift hello",
  "app verify hello",
  "app changelog hello",
  "app adopt hello hello --replace",
  "app deploy hello --yes",
  "app delete hello --yes",
  "route list",
  "route add other other.sandbox.test 2100 --yes",
  "route remove other --yes",
  "port --evidence",
  "hook status",
  "hook setup hello --yes",
  "hook test hello",
  "hook remove hello --yes",
  "runs",
  "cancel none",
  "settings list",
  "settings get platform.token",
  "settings set deploy.keepReleases 7 --yes",
  "token list",
  "token add canary --yes",
  "token remove canary --yes",
  "doctor",
  "remove hello --yes"
]
/** Commands that ask nothing, or that others are asked through. */
const others = ["serve", "sandbox", "open", "mcp", "ci", "completions", "exec", "console"]

const leaves = ({ children, name }: CommandNode, above = ""): ReadonlyArray<string> => {
  const whole = `${above}${name}`
  return children.length === 0 ? [whole] : children.flatMap((child) => leaves(child, `${whole} `))
}

const field = (data: unknown, name: string): unknown => Predicate.isRecord(data) ? data[name] : undefined

/** Collects answers, and the lines of the log as something that a viewer may read. */
const noting = <A, E, R>(use: (answers: Array<Answer>) => Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const answers: Array<Answer> = []
    const logger = Logger.make(({ cause, message }) =>
      void answers.push({
        role: "viewer",
        door: "log",
        name: "a line",
        text: `${[message].flat().join(" ")} ${Cause.pretty(cause)}`
      })
    )
    return Effect.provide(use(answers), Logger.replace(Logger.defaultLogger, logger))
  })

describe.skipIf(process.platform === "win32")("a canary in every place that holds a secret", () => {
  it.scopedLive(
    "is seen by nobody who may not see it, at no endpoint, by no tool and no command",
    () =>
      noting((answers) =>
        Effect.gen(function*() {
          const { collector, places, tokens, world } = yield* makeCanaryWorld
          const serving = yield* Scope.make()
          const { request, url } = yield* Scope.extend(startService(world.settingsFile), serving)
          const { projects, serverId } = world
          const hello = join(projects, "hello")
          const note = (role: Role, door: Answer["door"], name: string, text: string) =>
            void answers.push({ role, door, name, text })

          const sound: Readonly<Record<string, Parts>> = {
            ...soundRequests({ serverId, projects, here: join(projects, "notes"), uuid: appUuid }),
            "GET /api/servers/{id}/scan": { path: { id: serverId } },
            "GET /api/platform/apps/find/{name}": { path: { name: "hello" } },
            "POST /api/platform/adopt": { body: { uuid: appUuid, projectPath: hello, replace: true } },
            "POST /api/platform/webhooks/setup": { body: { appName: "hello" } },
            "DELETE /api/platform/webhooks/teardown": { body: { appName: "hello" } },
            "POST /api/platform/webhooks/test": { body: { appName: "hello" } },
            "DELETE /api/platform/apps/{uuid}": { path: { uuid: appUuid } }
          }
          expect(Object.keys(sound).sort()).toEqual(operations.map(({ name }) => name).sort())
          const firstStatus = new Map<string, number>()
          const ask = (role: Role, method: string, path: string, name: string, body?: unknown) =>
            Effect.map(request(method, path, body, { authorization: `Bearer ${tokens[role]}` }), (reply) => {
              if (!firstStatus.has(name)) firstStatus.set(name, reply.status)
              note(role, "endpoint", name, `${JSON.stringify([...reply.headers])}\n${reply.text}`)
              return reply
            })
          const everyEndpoint = (role: Role) =>
            Effect.forEach(operations, (operation) => {
              const parts = sound[operation.name] ?? {}
              return ask(role, operation.method, addressOf(operation, parts), operation.name, parts.body)
            })
          const everyRun = (role: Role) =>
            Effect.gen(function*() {
              const { body } = yield* ask(role, "GET", "/api/runs?limit=100", "GET /api/runs")
              const runs = field(body, "runs")
              const ids = Array.isArray(runs) ? runs.map((run) => String(field(run, "id"))) : []
              for (const id of ids) {
                yield* ask(role, "GET", `/api/runs/${id}`, "GET /api/runs/{id}")
                yield* ask(role, "GET", `/api/runs/${id}/events`, "GET /api/runs/{id}/events")
              }
              return ids
            })

          const everyTool = (role: Role) =>
            Effect.gen(function*() {
              const agent = yield* agents[0].connect(url, tokens[role])
              const project = { projectPath: hello, serverId, remotePath: "~/containers/hello" }
              const app = { projectPath: hello, appName: "hello" }
              const call = (name: string, given: Record<string, unknown> = {}) =>
                Effect.map(Effect.either(agent.call(name, given)), (called) => {
                  note(role, "tool", name, JSON.stringify(called))
                  return called._tag === "Right" ? called.right.data : undefined
                })
              const deployPlan = yield* call("plan_deploy", project)
              const appPlan = yield* call("plan_app", app)
              const [run = "none"] = yield* everyRun(role)
              const given: Readonly<Record<string, Record<string, unknown>>> = {
                plan_deploy: project,
                apply_deploy: { ...project, planHash: field(deployPlan, "planHash") ?? "none" },
                rollback: { serverId, remotePath: project.remotePath, release: "none" },
                list_backups: { serverId, remotePath: project.remotePath },
                plan_restore: { serverId, remotePath: project.remotePath, backup: "1" },
                compare: project,
                read_logs: { serverId, containerName: "greeter" },
                scan_server: { serverId },
                app_drift: app,
                plan_app: app,
                apply_app: { ...app, planHash: field(appPlan, "planHash") ?? "none" },
                verify_app: app,
                get_run: { id: run },
                cancel_run: { id: run }
              }
              yield* Effect.forEach(tools, ({ name }) => call(name, given[name]))
              for (const uri of ["berth://guide", `berth://runs/${run}`]) {
                note(role, "tool", uri, JSON.stringify(yield* Effect.either(agent.read(uri))))
              }
            })

          const everyCommand = (role: Role) =>
            Effect.forEach(lines, (line) =>
              Effect.forEach([[], ["--json"]], (more) =>
                Effect.map(
                  runCli({ url, token: Redacted.make(tokens[role]) }, [...line.split(" "), ...more]),
                  ({ err, out, shown }) => note(role, "command", line, [out, err, ...shown].join("\n"))
                )))

          const named = new Set(lines.map((line) => `berth ${line}`))
          const untried = leaves(berthCommand).filter((leaf) =>
            !others.includes(leaf.split(" ")[1] ?? "") && ![...named].some((line) => `${line} `.startsWith(`${leaf} `))
          )
          expect(untried).toEqual([])

          // A viewer looks before and after an operator has done everything.
          for (const role of ["viewer", "operator", "viewer"] as const) {
            yield* everyEndpoint(role)
            yield* everyTool(role)
            yield* everyCommand(role)
            yield* everyRun(role)
          }
          // Of these, errors would say nothing of what a viewer reads.
          for (
            const name of [
              "POST /api/projects/compare",
              "POST /api/container/plan",
              "POST /api/container/rollback/plan",
              "GET /api/servers/{id}/releases/compare",
              "GET /api/platform/config",
              "GET /api/platform/changelog",
              "POST /api/platform/drift",
              "GET /api/runs"
            ]
          ) expect([name, firstStatus.get(name)]).toEqual([name, 200])
          // The last exports come with the end of the service.
          yield* Scope.close(serving, Exit.void)
          expect(spansOf(collector).length).toBeGreaterThan(100)
          for (const { path, text } of collector.received) note("viewer", "collector", path, text)
          const leaks = answers.flatMap(({ door, name, role, text }) =>
            leakedTo(role, text, places).map((place) => `${place} > ${role}, ${door} ${name}`)
          )
          expect([...new Set(leaks)]).toEqual([])
          // Operators see their values: the canaries are where the test looks.
          const seen = (text: string) => answers.some((one) => one.role === "operator" && one.text.includes(text))
          const unseen = places.filter(({ readers, text }) => readers === "operators" && !seen(text))
          expect(unseen.map(({ place }) => place)).toEqual([])
        })
      ),
    { timeout: 300_000 * patience }
  )
})
