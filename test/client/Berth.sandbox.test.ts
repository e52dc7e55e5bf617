import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import {
  Chunk,
  ConfigProvider,
  Context,
  Duration,
  Effect,
  Exit,
  Fiber,
  Layer,
  Option,
  Redacted,
  Ref,
  Schedule,
  Scope,
  Stream
} from "effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Berth, BerthError, type RunEvent } from "../../src/client/index.ts"
import { inProcess } from "../../src/client/node/inProcess.ts"
import { overHttp } from "../../src/client/node/overHttp.ts"
import { makeWorld } from "../../src/sandbox/world.ts"
import { RunHistory } from "../../src/services/runs/store.ts"
import { runStoreIn } from "../../src/services/state/RunStoreLive.ts"
import { settingsTest } from "../../src/testing/SettingsTest.ts"
import { freePort } from "../fixtures/network/freePort.ts"
import { patience } from "../fixtures/patience.ts"
import { runCli } from "../fixtures/programs/cli.ts"
import { settingsFileWith, startService } from "../fixtures/programs/service.ts"
import { stored, storedRun } from "../fixtures/runs/storedRuns.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"
import { eventually } from "../sandbox/eventually.ts"

const connected = (layer: Layer.Layer<Berth>) => Effect.map(Layer.build(layer), Context.get(Berth))

/** Both ways to the service, which have to feel the same. */
const ways = {
  "at an address": (settingsFile: string) =>
    Effect.flatMap(startService(settingsFile), ({ url }) => connected(overHttp({ url, door: "cli" }))),
  "in this process": (settingsFile: string) => connected(inProcess(settingsFile, { door: "cli" }))
}

/** A project whose build runs a script of `sh`, and the settings for it. */
const buildStage = (script: string) =>
  Effect.gen(function*() {
    const root = yield* temporaryDirectory
    yield* plant(root, {
      "app/build-image-tar.ps1": `${script}\n`,
      "pwsh": "for script do :; done\n. \"$script\"\n"
    })
    const settingsFile = yield* settingsFileWith(`build: { shell: [sh, ${join(root, "pwsh")}] }\n`)
    return { settingsFile, projectPath: join(root, "app") }
  })

const summary = (events: Iterable<RunEvent>) =>
  Array.from(events, ({ data, event }) => (event === "output" ? data.text : event))

describe.skipIf(process.platform === "win32").each(Object.entries(ways))("a service %s", (_, connect) => {
  it.scopedLive("answers, as it is understood and as it came", () =>
    Effect.gen(function*() {
      const berth = yield* connect(yield* settingsFileWith("servers: [{ id: a, name: A, host: h, username: u }]\n"))
      const { body, value } = yield* berth.answer((api) => api.listServers({}))
      expect(value).toMatchObject([{ id: "a", port: 22 }])
      expect(JSON.parse(body)).toEqual(value)
    }))

  it.scopedLive("refuses in the words of the endpoint, with its status", () =>
    Effect.gen(function*() {
      const berth = yield* connect(yield* settingsFileWith("# nothing\n"))
      const refusal = yield* Effect.flip(berth.use((api) => api.scanServer({ path: { id: "no/such server?" } })))
      expect(refusal).toBeInstanceOf(BerthError)
      expect(refusal).toMatchObject({ reason: "refused", status: 404 })
      expect(refusal.message).toContain("no stored server has the id or the name \"no/such server?\"")
      const unfit = yield* Effect.flip(berth.use((api) => api.removeServer({ path: { id: ".." } })))
      expect(unfit).toMatchObject({
        reason: "refused",
        message: "\"..\" cannot be the id of anything: nothing was asked"
      })
    }))

  it.scopedLive("starts a run, tells what happens in it, and answers what its endpoint answers", () =>
    Effect.gen(function*() {
      const { projectPath, settingsFile } = yield* buildStage("echo one; echo two")
      const berth = yield* connect(settingsFile)
      const events = yield* Ref.make(Chunk.empty<RunEvent>())
      const result = yield* berth.run(
        (api) => api.build({ payload: { projectPath } }),
        (event) => Ref.update(events, Chunk.append(event))
      )
      expect(result).toMatchObject({ success: true, output: "one\ntwo\n" })
      const heard = yield* Ref.get(events)
      expect(summary(heard).join(" ")).toMatch(/^run .*one.*two.* end$/s)
      const { runs } = yield* berth.use((api) => api.listRuns({ urlParams: {} }))
      expect(runs).toMatchObject([{ kind: "build", state: "succeeded", requestedBy: { door: "cli" } }])
      const again = yield* Stream.runCollect(berth.runEvents(runs[0]?.id ?? ""))
      expect(summary(again)).toEqual(["run", "end"])
    }))

  it.scopedLive("fails a run as its endpoint fails, and cancels one", () =>
    Effect.gen(function*() {
      const { projectPath, settingsFile } = yield* buildStage("sleep 30")
      const berth = yield* connect(settingsFile)
      const missing = yield* Effect.flip(berth.run((api) => api.build({ payload: { projectPath: "/no/such" } })))
      expect(missing).toMatchObject({ reason: "refused", status: 400 })
      const { result, run } = yield* berth.start((api) => api.build({ payload: { projectPath } }))
      const waiting = yield* Effect.fork(Effect.flip(result))
      yield* berth.use((api) => api.cancelRun({ path: { id: run.id } }))
      expect(yield* Fiber.join(waiting)).toMatchObject({ reason: "refused", status: 409 })
    }))

  it.scopedLive("goes on with a run whose starter stops waiting", () =>
    Effect.gen(function*() {
      const { projectPath, settingsFile } = yield* buildStage("sleep 0.3; echo done")
      const berth = yield* connect(settingsFile)
      const begun = yield* Ref.make("")
      const fiber = yield* Effect.fork(berth.run(
        (api) => api.build({ payload: { projectPath } }),
        (event) => event.event === "run" ? Ref.set(begun, event.data.id) : Effect.void
      ))
      const id = yield* Effect.repeat(Ref.get(begun), {
        until: (id) => id !== "",
        schedule: Schedule.spaced("5 millis")
      })
      yield* Fiber.interrupt(fiber)
      const last = yield* Stream.runLast(berth.runEvents(yield* Ref.get(begun)))
      expect(id).toBeDefined()
      expect(last).toMatchObject({ value: { event: "end", data: { state: "succeeded" } } })
    }))

  it.scopedLive("follows logs until nobody listens", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const berth = yield* connect(world.settingsFile)
      const lines = yield* Stream.runCollect(
        Stream.take(berth.followLogs(world.serverId, { containerName: "greeter", lines: 1 }), 1)
      )
      expect(Chunk.toReadonlyArray(lines)).toMatchObject([{ event: "line", data: { service: expect.any(String) } }])
      const nobody = berth.followLogs(world.serverId, { containerName: "nobody" })
      expect(yield* Effect.flip(Stream.runDrain(nobody))).toMatchObject({ reason: "refused", status: 404 })

      const directory = join(world.projects, "greeter")
      mkdirSync(directory)
      writeFileSync(join(directory, "compose.yml"), "services: {}\n")
      writeFileSync(join(directory, "container.json"), JSON.stringify({ serverId: world.serverId }))
      const both = berth.followProjectLogs({ projects: ["hello", "greeter"], until: "0s", contains: "STAND-IN" })
      expect(Chunk.toReadonlyArray(yield* Stream.runCollect(both))).toEqual([
        { event: "unavailable", data: { project: "hello", error: expect.stringMatching(/^There is no stack at /) } },
        {
          event: "line",
          data: expect.objectContaining({ project: "greeter", text: expect.stringContaining("stand-in") })
        },
        { event: "end", data: {} }
      ])
      const refusals: ReadonlyArray<readonly [projects: ReadonlyArray<string>, status: number, words: RegExp]> = [
        [["hello"], 404, /^There is no stack at /],
        [["greeter", "helo"], 404, /named "helo"\. Did you mean "hello"\?$/],
        [Array.from({ length: 11 }, (_, at) => `p${at}`), 400, /^project must be given from 1 to 10 times/]
      ]
      for (const [projects, status, words] of refusals) {
        const refused = yield* Effect.flip(Stream.runDrain(berth.followProjectLogs({ projects })))
        expect(refused).toMatchObject({ reason: "refused", status, message: expect.stringMatching(words) })
      }
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("an address", () => {
  it.scopedLive("where nobody listens is said to be unreachable, at once", () =>
    Effect.gen(function*() {
      const url = `http://127.0.0.1:${yield* freePort}`
      const berth = yield* connected(overHttp({ url }))
      const calls: ReadonlyArray<Effect.Effect<unknown, BerthError>> = [
        berth.use((api) => api.listServers({})),
        Stream.runDrain(berth.runEvents("1"))
      ]
      for (const call of calls) {
        expect(yield* Effect.flip(call)).toMatchObject({
          reason: "unreachable",
          message:
            `Cannot reach Berth at ${url}: nothing listens there. Check the address, and that the service runs there`
        })
      }
    }))

  it.scopedLive("that requires a token gets the one that is given", () =>
    Effect.gen(function*() {
      const { url } = yield* startService(yield* settingsFileWith("http: { token: right-one }\n"))
      const list = (token?: string) =>
        Effect.flatMap(
          connected(overHttp({ url, token: token === undefined ? undefined : Redacted.make(token) })),
          ({ use }) => use((api) => api.listServers({}))
        )
      expect(yield* list("right-one")).toEqual([])
      expect(yield* Effect.flip(list("wrong"))).toMatchObject({
        reason: "refused",
        status: 401,
        message: expect.stringContaining("is not one that this service knows")
      })
      expect((yield* Effect.flip(list())).message).toContain("A bearer token is required")

      // A command sends a variable, and no header that anybody writes.
      const said = (token?: string) =>
        Effect.map(
          runCli({ url, ...token === undefined ? {} : { token: Redacted.make(token) } }, ["server", "list"]).pipe(
            Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["BERTH_TOKEN", token ?? ""]])))
          ),
          ({ code, err }) => [code, err.replaceAll(/\s+/g, " ")]
        )
      const rest = ": set it to http.token of the service's settings, or to one of its http.tokens"
      expect(yield* said()).toEqual([
        1,
        expect.stringContaining(`The service wants a token, and BERTH_TOKEN has none${rest}`)
      ])
      expect(yield* said("wrong")).toEqual([
        1,
        expect.stringContaining(`The service does not know the token in BERTH_TOKEN${rest}`)
      ])
    }))

  it.scopedLive("of a service that is started again: a run is watched on to its end", () =>
    Effect.gen(function*() {
      const { projectPath, settingsFile } = yield* buildStage("sleep 30")
      const port = yield* freePort
      const first = yield* Scope.make()
      yield* Effect.addFinalizer(() => Scope.close(first, Exit.void))
      const { url } = yield* Scope.extend(startService(settingsFile, "127.0.0.1", { port }), first)
      const berth = yield* connected(overHttp({ url }))
      const { events, run } = yield* berth.start((api) => api.build({ payload: { projectPath } }))
      const watching = yield* Effect.fork(Stream.runCollect(events))
      yield* berth.use((api) => api.cancelRun({ path: { id: run.id } }))
      yield* Scope.close(first, Exit.void)
      yield* startService(settingsFile, "127.0.0.1", { port })
      const last = Chunk.unsafeLast(yield* Fiber.join(watching))
      expect(last).toMatchObject({ event: "end", data: { id: run.id, state: "cancelled" } })
    }))
})

describe.skipIf(process.platform === "win32")("a service in this process, whose runs another process keeps", () => {
  it.scopedLive("waits for that one, and starts nothing for who stops waiting", () =>
    Effect.gen(function*() {
      const { projectPath, settingsFile } = yield* buildStage(
        "echo begun >>log; while [ ! -e go ]; do sleep 0.02; done"
      )
      const builds = (berth: Berth["Type"]) => berth.start((api) => api.build({ payload: { projectPath } }))
      const log = Effect.sync(() =>
        existsSync(join(projectPath, "log")) ? readFileSync(join(projectPath, "log"), "utf8") : ""
      )
      const scope = yield* Effect.scope
      const waiting = yield* Effect.scoped(Effect.gen(function*() {
        const first = yield* Effect.flatMap(connected(inProcess(settingsFile)), builds)
        yield* eventually(Effect.map(log, (text) => text === "begun\n"))
        const other = yield* connected(inProcess(settingsFile)).pipe(Scope.extend(scope))
        // The command line lets nobody stop what has begun.
        const stopped = yield* Effect.fork(Effect.uninterruptible(builds(other)))
        yield* Effect.sleep("300 millis")
        const [elapsed] = yield* Effect.timed(Fiber.interrupt(stopped))
        expect(Duration.toSeconds(elapsed)).toBeLessThan(5)
        const waiting = yield* Effect.fork(Effect.flatMap(builds(other), ({ result }) => result))
        yield* plant(projectPath, { go: "" })
        yield* first.result
        return waiting
      }))
      expect((yield* Fiber.join(waiting)).value).toMatchObject({ success: true })
      expect(yield* log).toBe("begun\nbegun\n")
    }), 60_000 * patience)
  it.scopedLive(
    "starts at once with the settings of a variable, whose store nobody shares",
    () =>
      Effect.gen(function*() {
        const { projectPath, settingsFile } = yield* buildStage("true")
        const text = Redacted.make(readFileSync(settingsFile, "utf8"))
        const berth = yield* connected(inProcess({ file: settingsFile, isNamed: true, text }))
        // As the command line does: a start cannot be interrupted once it is under way.
        const { result } = yield* Effect.uninterruptible(berth.start((api) => api.build({ payload: { projectPath } })))
        expect((yield* result).value).toMatchObject({ success: true })
      }),
    60_000 * patience
  )
  it.scopedLive("recovers the runs of a killed process before it starts another one", () =>
    Effect.gen(function*() {
      const { projectPath, settingsFile } = yield* buildStage("true")
      const store = Layer.provide(runStoreIn(join(dirname(settingsFile), "berth.db"), "20 seconds"), settingsTest())
      const left = storedRun(1, { kind: "build", state: "running" })
      yield* Effect.provide(Effect.flatMap(RunHistory, (runs) => runs.insert(stored(left))), store)
      yield* Effect.scoped(Effect.gen(function*() {
        const berth = yield* connected(inProcess(settingsFile))
        yield* berth.use((api) => api.build({ payload: { projectPath } }))
      }))
      const kept = yield* Effect.provide(Effect.flatMap(RunHistory, (runs) => runs.find(left.id)), store)
      expect(kept).toMatchObject(Option.some({ state: "interrupted" }))
    }), 60_000 * patience)
})
