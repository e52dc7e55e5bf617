import { describe, expect, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber, Schedule, Scope } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { appendFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fakeSsh } from "../fixtures/network/fakeSsh.ts"
import { type Service, settingsFileWith, startService } from "../fixtures/programs/service.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

const must = <A>(make: () => Promise<A>) => Effect.promise(make)

/** A service whose builds run a script of `sh`, in a project that notes how often it was built. */
const stage = (script: string) =>
  Effect.gen(function*() {
    const root = yield* temporaryDirectory
    yield* plant(root, {
      "app/build-image-tar.ps1": `echo built >>built\n${script}\n`,
      "other/build-image-tar.ps1": "true\n",
      "pwsh": "for script do :; done\n. \"$script\"\n"
    })
    const settingsFile = yield* settingsFileWith(`build: { shell: [sh, ${join(root, "pwsh")}] }\n`)
    const scope = yield* Scope.make()
    const service = yield* Scope.extend(startService(settingsFile), scope)
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    const build = (headers: Readonly<Record<string, string>> = {}, name = "app") =>
      service.request("POST", "/api/container/build", { projectPath: join(root, name) }, headers)
    return {
      ...service,
      build,
      root,
      stop: Scope.close(scope, Exit.void),
      get times() {
        const file = join(root, "app", "built")
        return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0
      }
    }
  })

interface ServerSentEvent {
  readonly id: number
  readonly event: string
  readonly data: { readonly [field: string]: unknown }
}

const eventsIn = (text: string): ReadonlyArray<ServerSentEvent> =>
  text.split("\n\n").filter((block) => block.startsWith("id:")).map((block) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? ""
    return { id: Number(field("id")), event: field("event"), data: JSON.parse(field("data")) }
  })

/** The events of a run to their end; `request` reads no more than the beginning of such an answer. */
const watch = ({ url }: Pick<Service, "url">, id: string, headers: Readonly<Record<string, string>> = {}) =>
  must(async () => {
    const response = await fetch(`${url}/api/runs/${id}/events`, { headers })
    return { headers: response.headers, text: await response.text() }
  })

const soon = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.retry(effect, { schedule: Schedule.spaced("20 millis"), times: 500 })

describe.skipIf(process.platform === "win32")("the runs of a service", () => {
  it.scopedLive("tell through which door they were asked for, if it is one", () =>
    Effect.gen(function*() {
      const service = yield* stage("true")
      const doors = ["web", "back"]
      const ids = yield* Effect.forEach(doors, (door) =>
        Effect.map(service.build({ "berth-door": door }), ({ headers }) => headers.get("berth-run")))
      const runs = yield* Effect.forEach(ids, (id) =>
        service.request("GET", `/api/runs/${id}`))
      expect(runs).toMatchObject(
        [{ body: { requestedBy: { door: "web" } } }, { body: { requestedBy: { door: "http" } } }]
      )
    }))

  it.scopedLive("are named by the answer of what started them, listed and shown", () =>
    Effect.gen(function*() {
      const service = yield* stage("echo hello")
      const answer = yield* service.build()
      expect(answer).toMatchObject({ status: 200, body: { success: true, output: "hello\n" } })
      const id = answer.headers.get("berth-run")
      const shown = yield* service.request("GET", `/api/runs/${id}`)
      expect(shown.body).toMatchObject({
        id,
        kind: "build",
        subject: { projectPath: join(service.root, "app") },
        state: "succeeded",
        requestedBy: { door: "http", name: expect.stringContaining("@") },
        steps: [{ step: "build", status: "done" }],
        result: answer.body,
        error: null
      })
      expect((yield* service.request("GET", "/api/runs?kind=build&limit=5")).body).toEqual({
        runs: [shown.body],
        next: null
      })
      expect((yield* service.request("GET", "/api/runs?kind=deploy")).body).toEqual({ runs: [], next: null })
      expect((yield* service.request("GET", "/api/runs?limit=0")).body).toEqual({
        error: expect.stringContaining("must be a whole number from 1 to 500")
      })
      expect((yield* service.request("GET", `/api/runs?before=${id}`)).body).toEqual({ runs: [], next: null })
      for (const before of ["", "garbage", `${id}0`, "%00"]) {
        expect((yield* service.request("GET", `/api/runs?before=${before}`)).body).toEqual({
          error: "before must be the id of a run, such as a page names as next"
        })
      }
    }))

  it.scopedLive("are not started by what is refused", () =>
    Effect.gen(function*() {
      const service = yield* stage("true")
      const answer = yield* service.build({ "prefer": "respond-async", "idempotency-key": "k" }, "nowhere")
      expect([answer.status, answer.headers.get("berth-run")]).toEqual([400, null])
      expect((yield* service.request("GET", "/api/runs")).body).toEqual({ runs: [], next: null })
      for (const path of ["/api/runs/none", "/api/runs/none/events"]) {
        expect((yield* service.request("GET", path)).status).toBe(404)
      }
      expect((yield* service.request("POST", "/api/runs/none/cancel")).status).toBe(404)
    }))

  it.scopedLive("are answered at once where that is preferred, and watched to their end", () =>
    Effect.gen(function*() {
      const service = yield* stage("while [ ! -e go ]; do sleep 0.05; done; echo done")
      const answer = yield* service.build({ prefer: "wait=5, Respond-Async" })
      const id = answer.headers.get("berth-run") ?? ""
      expect(answer).toMatchObject({ status: 202, body: { id, result: null } })
      expect(answer.headers.get("location")).toBe(`/api/runs/${id}`)
      expect(answer.headers.get("preference-applied")).toBe("respond-async")
      const watchers = yield* Effect.forEach(Array.from({ length: 20 }), () => Effect.fork(watch(service, id)))
      yield* Effect.sleep("200 millis")
      yield* must(() => writeFile(join(service.root, "app", "go"), ""))
      const [first, ...others] = yield* Effect.forEach(watchers, Fiber.join)
      expect(first?.headers.get("content-type")).toContain("text/event-stream")
      const events = eventsIn(first?.text ?? "")
      expect(events[0]?.event).toBe("run")
      expect(events.at(-1)).toMatchObject({ event: "end", data: { state: "succeeded", result: { success: true } } })
      expect(events.map(({ id }) => id)).toEqual(events.map(({ id }) => id).sort((a, b) => a - b))
      for (const { text } of others) expect(eventsIn(text).at(-1)?.event).toBe("end")
      expect(eventsIn((yield* watch(service, id)).text).map(({ event }) => event)).toEqual(["run", "end"])
    }))

  it.scopedLive("are one run for one idempotency key, which stands for one request", () =>
    Effect.gen(function*() {
      const service = yield* stage("sleep 0.2; echo $$")
      const key = { "idempotency-key": "once" }
      const answers = yield* Effect.all(Array.from({ length: 5 }, () => service.build(key)), {
        concurrency: "unbounded"
      })
      expect(service.times).toBe(1)
      expect(new Set(answers.map(({ headers }) => headers.get("berth-run"))).size).toBe(1)
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      expect((yield* service.build({ ...key, prefer: "respond-async" })).status).toBe(202)
      const other = yield* service.build(key, "other")
      expect(other).toMatchObject({ status: 422, body: { error: expect.stringContaining("Idempotency-Key") } })
      expect((yield* service.build({ "idempotency-key": "x".repeat(201) })).status).toBe(400)
      expect((yield* service.build({ "idempotency-key": "twice" })).status).toBe(200)
      expect(service.times).toBe(2)
    }))

  it.scopedLive("are told apart by their callers, also under one idempotency key, and a viewer starts none", () =>
    Effect.gen(function*() {
      const service = yield* stage("true")
      const tokenOf = (name: string) => `token-of-${name}-0123456789`
      const roles = { ann: "operator", bob: "operator", vic: "viewer" }
      const entries = Object.entries(roles).map(([name, role]) =>
        `    - { name: ${name}, token: ${tokenOf(name)}, role: ${role} }\n`
      )
      const projectPath = join(service.root, "app")
      const { text } = yield* service.request("POST", "/api/projects/programs", { projectPath })
      const digest = /"digest":"([^"]+)"/.exec(text)?.[1]
      yield* service.request("POST", "/api/projects/trust", { projectPath, digest })
      yield* must(() =>
        appendFile(service.settingsFile, `projects: { root: ${service.root} }\nhttp:\n  tokens:\n${entries.join("")}`)
      )
      const built = (name: string) =>
        Effect.map(
          service.build({ "idempotency-key": "once", "authorization": `Bearer ${tokenOf(name)}` }),
          ({ headers, status }) => ({ status, run: headers.get("berth-run") })
        )
      const [ann, bob] = yield* Effect.all([built("ann"), built("bob")], { concurrency: 2 })
      expect([ann.status, bob.status]).toEqual([200, 200])
      expect(ann.run).not.toBe(bob.run)
      expect([yield* built("ann"), yield* built("bob")]).toEqual([ann, bob])
      expect(yield* built("vic")).toEqual({ status: 403, run: null })
      expect(service.times).toBe(2)
    }))

  it.scopedLive("are started alike at every address that leads to the endpoint", () =>
    Effect.gen(function*() {
      const service = yield* stage("true")
      const headers = { "prefer": "respond-async", "idempotency-key": "once" }
      const paths = ["build", "build/", "BUILD", "buil%64", "/build", "build;x"].map((path) => `/api/container/${path}`)
      const answers = yield* Effect.forEach(
        paths,
        (path) => service.request("POST", path, { projectPath: join(service.root, "app") }, headers)
      )
      expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 202))
      expect(new Set(answers.map(({ headers }) => headers.get("berth-run"))).size).toBe(1)
      for (const path of ["/API/Container/build", "/api//container/build"]) {
        const answer = yield* service.request("POST", `${path}?dryRun=true`, { projectPath: join(service.root, "app") })
        expect([path, answer.status]).toEqual([path, 400])
      }
    }))

  it.scopedLive("are cancelled, those that wait too, and only once", () =>
    Effect.gen(function*() {
      const service = yield* stage("sleep 60")
      const caller = yield* Effect.fork(service.build())
      const second = yield* soon(
        Effect.suspend(() => service.times === 1 ? service.build({ prefer: "respond-async" }) : Effect.fail("not yet"))
      )
      const queued = yield* service.request("POST", `/api/runs/${second.headers.get("berth-run")}/cancel`)
      expect(queued).toMatchObject({ status: 200, body: { state: "cancelled", startedAt: null } })
      const { body } = yield* service.request("GET", "/api/runs?state=running")
      expect(body).toMatchObject({ runs: [{ kind: "build" }] })
      const id = JSON.parse(JSON.stringify(body)).runs[0].id
      // It answers the run as it is after two seconds at most, which a busy machine may need to end a program.
      expect((yield* service.request("POST", `/api/runs/${id}/cancel`)).status).toBe(200)
      expect(yield* Fiber.join(caller)).toMatchObject({
        status: 409,
        body: { error: expect.stringContaining("The build was cancelled at build.") }
      })
      expect((yield* service.request("GET", `/api/runs/${id}`)).body).toMatchObject({ state: "cancelled" })
      expect((yield* service.request("POST", `/api/runs/${id}/cancel`)).status).toBe(409)
      expect(service.times).toBe(1)
    }))

  it.scopedLive("end with the service, and so do those who watch them", () =>
    Effect.gen(function*() {
      const service = yield* stage("sleep 1; echo late")
      const { headers } = yield* service.build({ prefer: "respond-async" })
      const watcher = yield* Effect.fork(watch(service, headers.get("berth-run") ?? ""))
      yield* Effect.sleep("300 millis")
      const [elapsed] = yield* Effect.timed(service.stop)
      expect(Duration.toMillis(elapsed)).toBeLessThan(5_000)
      expect(eventsIn((yield* Fiber.join(watcher)).text).at(-1)).toMatchObject({ event: "end" })
    }))

  it.scopedLive.each<readonly [what: string, headers: Readonly<Record<string, string>>, state: string]>([
    ["cancel a pull whose caller left", {}, "cancelled"],
    ["go on with a pull whose caller comes back with its key", { "idempotency-key": "one" }, "succeeded"]
  ])("%s", ([, headers, state]) =>
    Effect.gen(function*() {
      const root = yield* temporaryDirectory
      const asked = yield* Deferred.make<() => void>()
      const attrs = { mode: 0o100644, uid: 0, gid: 0, size: 1, atime: 0, mtime: 0 }
      const { access: { host, port } } = yield* fakeSsh({
        sftp: (sftp) => {
          for (const question of ["STAT", "LSTAT", "FSTAT"] as const) {
            sftp.on(question, (id: number) => sftp.attrs(id, attrs))
          }
          sftp.on("REALPATH", (id, filename) => sftp.name(id, [{ filename, longname: "", attrs }]))
          sftp.on("OPEN", (id) => sftp.handle(id, Buffer.from("1")))
          sftp.on("READ", (id, _handle, offset) =>
            Number(offset) > 0
              ? sftp.status(id, 1)
              : Deferred.unsafeDone(asked, Effect.succeed(() => sftp.data(id, Buffer.from("x")))))
          sftp.on("CLOSE", (id) => sftp.status(id, 0))
        }
      })
      const { request, url } = yield* startService(
        yield* settingsFileWith(
          `servers:\n  - { id: b, name: b, host: ${host}, port: ${port}, username: u, password: open sesame }\n`
        )
      )
      const files = [{ name: "a", remotePath: "/a", localPath: join(root, "a"), type: "file" }]
      const pulling = yield* Effect.fork(Effect.tryPromise((signal) =>
        fetch(`${url}/api/container/pull`, {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: JSON.stringify({ serverId: "b", files }),
          signal
        })
      ))
      const send = yield* Deferred.await(asked)
      yield* Fiber.interrupt(pulling)
      if (state === "succeeded") send()
      const ended = request("GET", `/api/runs?kind=pull&state=${state}`)
      yield* soon(Effect.filterOrFail(ended, ({ text }) => text.includes("\"id\""), () => "not yet" as const))
      expect(existsSync(join(root, "a"))).toBe(state === "succeeded")
    }))
})
