import { describe, expect, it } from "@effect/vitest"
import { Effect, Predicate, Redacted, Schedule } from "effect"
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { stringify } from "yaml"
import { compiled } from "../../fixtures/compiled.ts"
import { buildImage, docker, uniqueName } from "../../fixtures/docker/docker.ts"
import { realServer } from "../../fixtures/docker/realProject.ts"
import { runnableImage } from "../../fixtures/docker/runnableImage.ts"
import { run, type UserOptions } from "../../fixtures/network/openssh.ts"
import { sshdWorld } from "../../fixtures/network/servers.ts"
import { runCli } from "../../fixtures/programs/cli.ts"
import { settingsFileWith, startService } from "../../fixtures/programs/service.ts"
import { hasTerminal, onTerminal } from "../../fixtures/programs/terminal.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

const ctrlC = "\u0003"
const stays = ["/bin/busybox", "sh", "-c", "trap exit TERM; while :; do /bin/busybox sleep 1; done"]

/** A stack of two services on a real server: `web` has a shell, `bare` has none. */
const world = (options: UserOptions) =>
  Effect.gen(function*() {
    const { access, home, plant: plantThere } = yield* sshdWorld.server(options)
    const { credentials: { password }, ...server } = access
    const projects = yield* temporaryDirectory
    yield* plant(projects, {
      "app/compose.yml": "services:\n  web:\n    image: app\n",
      "app/container.json": JSON.stringify({ serverId: server.id, remotePath: "~/containers/app" })
    })
    yield* plantThere({ "containers/app/compose.yml": "services: {}\n" })
    const name = yield* uniqueName("berth-exec")
    yield* buildImage(name, "hello")
    const bare = `${name}-bare`
    const archive = join(yield* temporaryDirectory, "bare.tar")
    writeFileSync(archive, runnableImage(bare, "bare").archive)
    yield* Effect.acquireRelease(docker("load", "-i", archive), () => docker("image", "rm", "-f", `${bare}:latest`))
    const start = (service: string, image: string, command: ReadonlyArray<string>) =>
      Effect.acquireRelease(
        docker(
          "run",
          "-d",
          "--network",
          "none",
          "--name",
          `${name}-${service}`,
          "--label",
          `com.docker.compose.project.working_dir=${join(home, "containers", "app")}`,
          "--label",
          `com.docker.compose.service=${service}`,
          "--label",
          "com.docker.compose.container-number=1",
          image,
          ...command
        ),
        () => docker("rm", "-f", `${name}-${service}`)
      )
    yield* start("web", name, stays)
    yield* start("bare", `${bare}:latest`, [])
    const settingsFile = yield* settingsFileWith(stringify({
      projects: { root: projects },
      http: {
        tokens: [{ name: "watcher", token: "viewer-token", role: "viewer" }, {
          name: "ops",
          token: "ops-token",
          role: "operator"
        }]
      },
      servers: [{ ...server, password: password === undefined ? "" : Redacted.value(password) }]
    }))
    // The first contact with the server is told on standard error, once.
    yield* runCli({ settingsFile }, ["server", "scan", server.id])
    return { settingsFile, name, serverId: server.id }
  })

interface Ended {
  readonly code: number | null
  readonly out: Buffer
  readonly err: string
}

/** Executes a command of `berth` with pipes. */
const piped = (
  env: Readonly<Record<string, string>>,
  args: ReadonlyArray<string>,
  input: Uint8Array | string = ""
): Effect.Effect<Ended> =>
  Effect.async((resume) => {
    const { BERTH_URL: _, ...inherited } = process.env
    const child = spawn(process.execPath, [compiled("src/cli/berth.ts"), ...args], { env: { ...inherited, ...env } })
    const [out, err]: [Array<Buffer>, Array<Buffer>] = [[], []]
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk))
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk))
    child.stdin.on("error", () => undefined)
    child.stdin.end(input)
    child.on("close", (code) =>
      resume(Effect.succeed({ code, out: Buffer.concat(out), err: Buffer.concat(err).toString("utf8") })))
    return Effect.sync(() =>
      child.kill("SIGKILL")
    )
  })

/** Counts the processes of this machine with these arguments. */
const running = (args: string) =>
  Effect.map(
    Effect.orDie(run("sh", ["-c", "ps -eo args | grep -cx -- \"$1\" || :", "sh", args])),
    (count) => Number(String(count).trim())
  )

/** The terminal of the process that was given this variable. */
const terminalOf = (variable: string) =>
  Effect.sync(() => {
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      try {
        const isOurs = readFileSync(`/proc/${pid}/environ`, "utf8").includes(variable) &&
          readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("console")
        const input = readlinkSync(`/proc/${pid}/fd/0`)
        if (isOurs && input.startsWith("/dev/pts/")) return input
      } catch {
        // It has ended meanwhile.
      }
    }
    return ""
  })

/** Asks until the answer fits, for a minute on a busy machine. */
const eventually = <A>(what: Effect.Effect<A>, fits: (value: A) => boolean) =>
  what.pipe(
    Effect.filterOrFail(fits, (value) => new Error(`still ${JSON.stringify(value)}`)),
    Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 600 }),
    Effect.orDie
  )

const limit = 240_000

describe.skipIf(!realServer.available)(realServer.title("berth exec on a real server"), () => {
  it.scopedLive("passes every byte and the exit code on, and says what is wrong", () =>
    Effect.gen(function*() {
      const { name, settingsFile } = yield* world({ groups: ["docker"] })
      const bytes = randomBytes(1_000_003)
      // In this process, which holds the history no longer than it takes to write there.
      const copied = yield* piped({ BERTH_CONFIG: settingsFile }, ["exec", "app", "web", "--", "busybox", "cat"], bytes)
      const { url } = yield* startService(settingsFile)
      const env = { BERTH_URL: url, BERTH_TOKEN: "ops-token" }
      const exec = (args: ReadonlyArray<string>, input?: Uint8Array) => piped(env, ["exec", "app", ...args], input)
      const [served, failed, apart, odd, near, none, missing] = yield* Effect.all([
        exec(["web", "--", "busybox", "cat"], bytes),
        exec(["web", "--", "sh", "-c", "exit 7"]),
        exec(["web", "--", "sh", "-c", "echo out; echo err >&2"]),
        exec(["web", "--", "busybox", "printf", "%s|", "a b", "'\"$x`\\", "two\nlines\\n", ""]),
        exec(["wbe", "--", "busybox", "true"]),
        exec(["--", "busybox", "true"]),
        exec(["web", "--", "no-such-program"])
      ], { concurrency: 2 })
      expect(copied).toMatchObject({ code: 0, err: "" })
      expect(copied.out.equals(bytes)).toBe(true)
      expect(served).toMatchObject({ code: 0, err: "" })
      expect(served.out.equals(bytes)).toBe(true)
      expect(failed).toMatchObject({ code: 7, err: "" })
      expect({ ...apart, out: apart.out.toString("utf8") }).toEqual({ code: 0, out: "out\n", err: "err\n" })
      expect(odd.out.toString("utf8")).toBe("a b|'\"$x`\\|two\nlines\\n||")
      expect(near).toMatchObject({ code: 1, err: expect.stringContaining("no service \"wbe\". Did you mean \"web\"?") })
      expect(none).toMatchObject({ code: 1, err: expect.stringContaining("name one of bare, web") })
      expect([126, 127]).toContain(missing.code)

      const shell = yield* piped(env, ["console", "app", "bare"])
      expect(shell).toMatchObject({ code: 1, err: expect.stringContaining("holds neither bash nor sh") })
      const typed = yield* piped(env, ["console", "app", "web"], "echo $((6 * 7))\nexit 5\n")
      expect({ ...typed, out: typed.out.toString("utf8") }).toEqual({ code: 5, out: "42\n", err: "" })

      const runs = yield* Effect.promise(async () => {
        const headers = { authorization: "Bearer ops-token" }
        const answer: unknown = await (await fetch(`${url}/api/runs?kind=exec`, { headers })).json()
        return Predicate.hasProperty(answer, "runs") ? answer.runs : undefined
      })
      expect(runs).toContainEqual(expect.objectContaining({
        kind: "exec",
        state: "succeeded",
        requestedBy: expect.objectContaining({ door: "cli" }),
        subject: expect.objectContaining({ container: `${name}-web`, command: ["sh", "-c", "exit 7"] })
      }))
      expect(JSON.stringify(runs)).not.toContain("42\\n")
    }), limit)

  it.scopedLive("ends with the reader of its output", () =>
    Effect.gen(function*() {
      const { settingsFile } = yield* world({ sudo: "password" })
      const pipe = "\"$0\" \"$1\" exec app web -- busybox yes 73521 | head -n 1; echo left >&2"
      const served = Effect.map(
        startService(settingsFile),
        ({ url }) => ({ BERTH_URL: url, BERTH_TOKEN: "ops-token" })
      )
      for (const environment of [Effect.succeed({ BERTH_CONFIG: settingsFile }), served]) {
        const env = yield* environment
        const { BERTH_URL: _, ...inherited } = process.env
        const ended = yield* Effect.async<string>((resume) => {
          const child = spawn("sh", ["-c", pipe, process.execPath, compiled("src/cli/berth.ts")], {
            env: { ...inherited, ...env }
          })
          let output = ""
          for (const stream of [child.stdout, child.stderr]) {
            stream.on("data", (chunk: Buffer) => {
              output += chunk.toString("utf8")
            })
          }
          child.stdin.end()
          child.on("close", () => resume(Effect.succeed(output)))
          return Effect.sync(() => child.kill("SIGKILL"))
        }).pipe(Effect.timeout("60 seconds"))
        expect(ended).toBe("73521\nleft\n")
        yield* eventually(running("busybox yes 73521"), (count) => count === 0)
      }
    }), limit)

  it.scopedLive.skipIf(!hasTerminal)(
    "is a terminal: its size, Ctrl-C, the exit code, and its end with it",
    () =>
      Effect.gen(function*() {
        const { settingsFile } = yield* world({ sudo: "password" })
        const { url } = yield* startService(settingsFile)
        const env = { BERTH_URL: url, BERTH_TOKEN: "ops-token", BERTH_TEST_MARK: randomBytes(8).toString("hex") }
        const terminal = yield* onTerminal(["console", "app", "web"], { columns: 77, env })
        yield* terminal.until(/# /)
        yield* terminal.type("busybox stty size\n")
        yield* terminal.until(/24 77/)
        const device = yield* eventually(terminalOf(env.BERTH_TEST_MARK), (path) => path !== "")
        yield* Effect.orDie(run("stty", ["-F", device, "cols", "111", "rows", "33"]))
        yield* Effect.suspend(() =>
          Effect.zipRight(
            terminal.type("busybox stty size\n"),
            Effect.delay(Effect.sync(terminal.output), "500 millis")
          )
        ).pipe(Effect.repeat({ until: (output) => output.includes("33 111"), times: 60 }))
        expect(terminal.output()).toContain("33 111")
        yield* terminal.type("busybox sleep 73519\n")
        yield* eventually(running("busybox sleep 73519"), (count) => count === 1)
        yield* terminal.type(ctrlC)
        yield* terminal.type("echo code=$?\n")
        yield* terminal.until(/code=130/)
        yield* terminal.type("exit 3\n")
        expect(yield* terminal.ended).toBe(3)

        yield* Effect.scoped(Effect.gen(function*() {
          const closed = yield* onTerminal(["exec", "app", "web", "--", "busybox", "sleep", "73520"], { env })
          yield* eventually(running("busybox sleep 73520"), (count) => count === 1)
          expect(closed.output()).toBe("")
        }))
        yield* eventually(running("busybox sleep 73520"), (count) => count === 0)
      }),
    limit
  )

  it.scopedLive("is for operators, and not for agents", () =>
    Effect.gen(function*() {
      const { serverId, settingsFile } = yield* world({ groups: ["docker"] })
      const { url } = yield* startService(settingsFile)
      const ask = (token: string, headers: Readonly<Record<string, string>> = {}) =>
        Effect.promise(async () => {
          const response = await fetch(`${url}/api/servers/${serverId}/exec`, {
            method: "POST",
            headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
            body: JSON.stringify({ remotePath: "~/containers/app", service: "web", command: ["busybox", "true"] })
          })
          return { status: response.status, text: await response.text() }
        })
      expect(yield* ask("viewer-token")).toMatchObject({ status: 403 })
      expect(yield* ask("ops-token", { "berth-door": "mcp" })).toMatchObject({
        status: 403,
        text: expect.stringContaining("Agents may not run commands in containers")
      })
      expect(yield* ask("ops-token")).toMatchObject({
        status: 200,
        text: expect.stringContaining("data: {\"code\":0}")
      })
    }), limit)
})
