import { describe, expect, layer } from "@effect/vitest"
import { Context, Duration, Effect, Layer } from "effect"
import { spawn } from "node:child_process"
import { access, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parse } from "yaml"
import { computeFingerprint } from "../../src/services/HostKeys.ts"
import { compiled } from "../fixtures/compiled.ts"
import { project, realServer } from "../fixtures/docker/realProject.ts"
import { startSshd } from "../fixtures/network/openssh.ts"
import { patience } from "../fixtures/patience.ts"
import { settingsFileWith, startService } from "../fixtures/programs/service.ts"
import { inTurn } from "../fixtures/thorough.ts"

const must = <A>(make: () => Promise<A>) => Effect.promise(make)
const exists = (file: string) => must(() => access(file).then(() => true, () => false))

interface ActionStep {
  readonly id?: string
  readonly name: string
  readonly if?: string
  readonly env?: Readonly<Record<string, string>>
  readonly run: string
}

/** Signals of a runner that cancels a job, with the seconds after which it sends them. */
type Signals = ReadonlyArray<readonly [signal: NodeJS.Signals, seconds: number]>
const cancelled: Signals = [["SIGINT", 0], ["SIGTERM", 7.5], ["SIGKILL", 10]]
/** The same for steps that end sooner. */
const cancelledSooner: Signals = [["SIGINT", 0], ["SIGTERM", 0.3], ["SIGKILL", 0.5]]

interface Job {
  readonly code: number | null
  /** Everything that the runner shows: output without the lines that it takes as masks, and the summary. */
  readonly shown: string
  /** Everything that the job leaves: what is shown, and each file of its directory. */
  readonly left: string
  readonly masks: ReadonlyArray<string>
  readonly outputs: Readonly<Record<string, string>>
}

interface JobOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cancel?: { readonly at: RegExp; readonly signals: Signals }
  /** The checkout; the directory of the job when absent. */
  readonly checkout?: string
  /** Steps to carry out; all when absent. */
  readonly only?: string
  readonly path?: string
}

/** A runner with nothing of its own: an empty home, no terminal, no settings file, and `berth` on its path. */
const makeRunner = Effect.gen(function*() {
  const root = yield* Effect.acquireRelease(
    must(() => mkdtemp(join(tmpdir(), "berth-runner-"))),
    (path) => must(() => rm(path, { recursive: true, force: true }))
  )
  const { inputs, runs } = parse(yield* must(() => readFile("action.yml", "utf8")))
  const steps: ReadonlyArray<ActionStep> = runs.steps
  const berth = join(root, "bin/berth")
  yield* must(async () => {
    for (const name of ["bin", "home"]) await mkdir(join(root, name))
    const script = `#!/bin/sh\nexec '${process.execPath}' '${compiled("src/cli/berth.ts")}' "$@"\n`
    await writeFile(berth, script, { mode: 0o755 })
  })
  let jobs = 0
  const run = (given: Readonly<Record<string, string>>, { cancel, checkout, env = {}, only, path }: JobOptions = {}) =>
    must(async (): Promise<Job> => {
      const temporary = join(root, `job-${jobs++}`)
      await mkdir(temporary)
      const at = (name: string) => join(temporary, name)
      await Promise.all(["output", "env", "path", "summary"].map((name) => writeFile(at(name), "")))
      const outputs: Record<string, string> = {}
      const valueOf = (text: string) =>
        text.replace(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, name: string) => given[name] ?? inputs[name].default)
          .replace(/\$\{\{ steps\.berth\.outputs\.([\w-]+) \}\}/g, (_, name: string) => outputs[name] ?? "")
      let shown = ""
      let code: number | null = 0
      for (const step of steps) {
        const isComment = step.if !== undefined
        if (only !== undefined && step.name !== only) continue
        if (isComment ? given["comment"] !== "true" : code !== 0) continue
        const script = at("script.sh")
        await writeFile(script, step.run)
        const child = spawn("/bin/bash", ["--noprofile", "--norc", "-e", "-o", "pipefail", script], {
          cwd: checkout ?? temporary,
          env: {
            PATH: path ?? `${join(root, "bin")}:${process.env["PATH"] ?? ""}`,
            HOME: join(root, "home"),
            CI: "true",
            RUNNER_TEMP: temporary,
            GITHUB_ACTION_PATH: process.cwd(),
            GITHUB_OUTPUT: at("output"),
            GITHUB_ENV: at("env"),
            GITHUB_PATH: at("path"),
            GITHUB_STEP_SUMMARY: at("summary"),
            ...env,
            ...Object.fromEntries(Object.entries(step.env ?? {}).map(([name, text]) => [name, valueOf(text)]))
          },
          stdio: ["ignore", "pipe", "pipe"]
        })
        let isCancelled = false
        const hear = (chunk: Buffer) => {
          shown += String(chunk)
          if (cancel === undefined || isCancelled || !cancel.at.test(shown)) return
          isCancelled = true
          for (const [signal, seconds] of cancel.signals) setTimeout(() => child.kill(signal), seconds * 1000)
        }
        child.stdout.on("data", hear)
        child.stderr.on("data", hear)
        const ended = await new Promise<number | null>((resolve) => child.once("close", resolve))
        if (!isComment || code === 0) code = ended
        for (const line of (await readFile(at("output"), "utf8")).split("\n")) {
          const [name = "", ...value] = line.split("=")
          if (name !== "") outputs[name] = value.join("=")
        }
      }
      const isMask = (line: string) => line.startsWith("::add-mask::")
      const lines = shown.split("\n")
      const visible = `${lines.filter((line) => !isMask(line)).join("\n")}\n${await readFile(at("summary"), "utf8")}`
      const files = (await readdir(temporary, { withFileTypes: true })).filter((entry) => entry.isFile())
      const texts = await Promise.all(files.map(({ name }) => readFile(at(name), "utf8")))
      const masks = lines.filter(isMask).map((line) => line.slice("::add-mask::".length))
      return { code, shown: visible, left: [visible, ...texts].join("\n"), masks, outputs }
    })
  return { root, run }
})

/** Blocks of YAML in the page on continuous integration: the workflow, and the settings. */
const readDocumented = must(async () => {
  const page = await readFile("docs/ci.md", "utf8")
  return [...page.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, block = ""]) => block)
})

const secrets = {
  plan: "planted-token-of-both-jobs",
  comment: "planted-token-of-comments",
  command: "planted-secret-of-a-command",
  service: "planted-token-of-the-service"
}

/** A project, a server, and the workflow and the settings of the documentation, without a secret in them. */
const makeScene = Effect.gen(function*() {
  const runner = yield* makeRunner
  const sshd = yield* startSshd()
  const user = yield* sshd.makeUser({ groups: ["docker"] })
  const made = yield* project
  yield* made.build("one")
  const [type = "", blob = ""] = (yield* sshd.hostKey()).split(" ")
  const fingerprint = computeFingerprint(Buffer.from(blob, "base64"))
  const keyFile = yield* user.makeKey()
  const key = yield* must(() => readFile(keyFile, "utf8"))
  const path = `~/containers/${made.name}`
  const configure = (more: object = {}) =>
    must(() => writeFile(join(made.directory, "container.json"), JSON.stringify({ remotePath: path, ...more })))
  const reset = Effect.zipRight(configure(), made.compose(made.usual))
  yield* reset
  const [workflow = "", documented = ""] = yield* readDocumented
  const settings = documented.replace("main.example.com", `127.0.0.1\n    port: ${sshd.port}`)
    .replace("username: deploy", `username: ${user.name}`)
    .replace(/SHA256:\S+/, fingerprint)
    .concat("deploy: { healthTimeout: 20 seconds, healthInterval: 500 millis }\n")
  const variables: Readonly<Record<string, string>> = { BERTH_SETTINGS: settings, BERTH_SSH_KEY: key }
  const given: Readonly<Record<string, string>> = parse(workflow).jobs.berth.steps[1].with
  const inputs: Readonly<Record<string, string>> = Object.fromEntries(
    Object.entries(given).map(([name, text]) => [
      name,
      text.replace(/^\$\{\{ (?:vars|secrets)\.(\w+) \}\}$/, (_, variable: string) => variables[variable] ?? "")
    ])
  )
  const job = (more: Readonly<Record<string, string>> = {}, options: JobOptions = {}) =>
    runner.run({ ...inputs, ...more }, {
      checkout: made.directory,
      ...options,
      env: { PLAN_TOKEN: secrets.plan, ...options.env }
    })
  const planted = [
    key.split("\n").find((line) => line.length > 40) ?? "no line",
    user.password,
    ...Object.values(secrets)
  ]
  /** Fails if a secret is in anything that a job shows or leaves. */
  const expectNoSecret = (all: ReadonlyArray<Pick<Job, "left">>, others = "") => {
    for (const text of [...all.map(({ left }) => left), others]) {
      for (const secret of planted) expect(text).not.toContain(secret)
    }
  }
  const knownHosts = `[127.0.0.1]:${sshd.port} ${type} ${blob}\n`
  return {
    ...runner,
    made,
    sshd,
    user,
    fingerprint,
    keyFile,
    knownHosts,
    path,
    configure,
    reset,
    settings,
    inputs,
    job,
    expectNoSecret
  }
})

class Scene extends Context.Tag("Scene")<Scene, Effect.Effect.Success<typeof makeScene>>() {
  static readonly layer = Layer.scoped(Scene, makeScene)
}

/** A stand-in for the comments of a git host: what it was asked, and what it has. */
const startGitHost = Effect.gen(function*() {
  const asked: Array<readonly [method: string, path: string, token: string]> = []
  const comments: Array<{ readonly id: number; body: string }> = [{ id: 6, body: "of a person" }]
  const server = yield* Effect.acquireRelease(
    Effect.async<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((request, response) => {
        let body = ""
        request.on("data", (chunk) => body += String(chunk))
        request.on("end", () => {
          const [path = ""] = (request.url ?? "").split("?")
          asked.push([request.method ?? "", path, request.headers.authorization ?? ""])
          if (request.method === "POST") comments.push({ id: 7, body: JSON.parse(body).body })
          if (request.method === "PATCH") comments[1] = { id: 7, body: JSON.parse(body).body }
          response.end(JSON.stringify(request.method === "GET" ? comments : {}))
        })
      }).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => void server.close())
  )
  const address = server.address()
  return { asked, comments, port: typeof address === "object" && address !== null ? address.port : 0 }
})

const title = realServer.title("the action")

describe.skipIf(!realServer.available)(title, { timeout: 400_000 * patience }, () => {
  layer(Scene.layer, { timeout: Duration.seconds(100 * patience), excludeTestServices: true })((it) => {
    it.scoped("plans on an empty runner, comments once and renews it, and deploys by the hash of another job", () =>
      Effect.gen(function*() {
        const { configure, expectNoSecret, job, made, root, settings, sshd, user } = yield* Scene
        const { asked, comments, port } = yield* startGitHost
        yield* must(() => writeFile(join(root, "event.json"), JSON.stringify({ pull_request: { number: 12 } })))
        const pull = (event = "pull_request") => ({
          GITHUB_API_URL: `http://127.0.0.1:${port}`,
          GITHUB_REPOSITORY: "ann/shop",
          GITHUB_EVENT_PATH: join(root, "event.json"),
          GITHUB_EVENT_NAME: event
        })
        const planned = { command: "plan", comment: "true", "github-token": secrets.comment }
        const plan = yield* job(planned, { env: pull() })
        expect(plan.code, plan.shown).toBe(0)
        expect(plan.outputs).toMatchObject({ changed: "true", "plan-hash": expect.stringMatching(/^[\w-]{20,}$/) })
        expect(plan.shown).toContain("service `web`: create")
        expect(plan.masks).toContain(secrets.comment)
        expect(yield* must(() => readdir(join(root, "home")))).toEqual([])
        expect(yield* exists(join(user.home, "containers"))).toBe(false)

        // A pull request may change hooks, programs that print secrets and the build: none of them runs.
        const mark = (name: string) => ["sh", "-c", `touch ${join(root, name)}; echo x`]
        yield* must(() => writeFile(join(made.directory, "build-image-tar.sh"), `touch ${join(root, "ran-build")}\n`))
        yield* configure({
          secrets: { DB_PASSWORD: { command: mark("ran-secret") } },
          hooks: { beforeDeploy: [mark("ran-hook")] }
        })
        yield* made.compose([...made.usual, "environment: [DB_PASSWORD]"])
        const hostile = yield* job({ ...planned, build: "true" }, { env: pull("pull_request_target") })
        expect(hostile.code, hostile.shown).toBe(0)
        expect(hostile.shown).toContain("secret `DB_PASSWORD`")
        for (const name of ["ran-build", "ran-secret", "ran-hook"]) expect(yield* exists(join(root, name))).toBe(false)
        expect(asked.map(([method, path]) => `${method} ${path}`)).toEqual([
          "GET /repos/ann/shop/issues/12/comments",
          "POST /repos/ann/shop/issues/12/comments",
          "GET /repos/ann/shop/issues/12/comments",
          "PATCH /repos/ann/shop/issues/comments/7"
        ])
        expect(asked.every(([, , token]) => token === `Bearer ${secrets.comment}`)).toBe(true)
        expect(comments).toEqual([{ id: 6, body: "of a person" }, {
          id: 7,
          body: expect.stringContaining("DB_PASSWORD")
        }])

        // Without a token in the settings, the hash of another process says nothing, and the answer says so.
        yield* must(() => rm(join(made.directory, "build-image-tar.sh")))
        yield* configure()
        yield* made.compose(made.usual)
        const hash = plan.outputs["plan-hash"] ?? ""
        const keyless = yield* job({ settings: settings.replace(/^http:.*\n/m, ""), "plan-hash": hash })
        expect([keyless.code, keyless.shown]).toEqual([
          1,
          expect.stringContaining("set http.token to the same random text")
        ])
        const deployed = yield* job({ "plan-hash": hash })
        expect(deployed.code, deployed.shown).toBe(0)
        expect(yield* made.answer).toBe("one")
        expect(deployed.outputs).toMatchObject({
          outcome: "healthy",
          "run-id": expect.stringMatching(/^\w{26}$/),
          release: "1",
          urls: `http://127.0.0.1:${made.port}`
        })
        // The plan is carried out by now, so the same hash is refused, and so it is after an edit on the server.
        const stale = yield* job({ "plan-hash": hash })
        expect([stale.code, stale.outputs["outcome"]]).toEqual([1, "failed"])
        const current = yield* job({ command: "plan" })
        expect(current.outputs["changed"]).toBe("false")
        yield* must(() => writeFile(join(user.home, "containers", made.name, "compose.yml"), "services: {}\n"))
        const edited = yield* job({ "plan-hash": current.outputs["plan-hash"] ?? "" })
        expect([edited.code, edited.shown]).toEqual([1, expect.stringContaining("a file on the server has changed")])

        // A version that prints its secret and ends: the one before runs again, and the secret is in nothing that is left.
        const vault = join(root, "vault")
        yield* must(() => writeFile(vault, `${secrets.command}\n`))
        yield* configure({ secrets: { DB_PASSWORD: { command: ["cat", vault] } } })
        const leak = `entrypoint: ["/bin/busybox", "sh", "-c", "echo leaked $$DB_PASSWORD; exit 3"]`
        yield* made.compose([...made.usual, "environment: [DB_PASSWORD]", leak])
        const broken = yield* job({ comment: "true", "github-token": secrets.comment }, { env: pull("push") })
        expect([broken.code, broken.outputs["outcome"]], broken.shown).toEqual([1, "rolledBack"])
        expect(broken.shown).toContain("leaked ***")
        expect(broken.shown).toMatch(/^::error title=Berth::/m)
        expect(yield* made.answer).toBe("one")
        yield* configure()
        yield* made.compose([...made.usual, "labels: { version: two }"])
        const second = yield* job()
        expect(second.outputs, second.shown).toMatchObject({ outcome: "healthy" })
        const back = yield* job({ command: "rollback", release: "1" })
        expect(back.code, back.shown).toBe(0)
        expect(back.outputs).toMatchObject({ outcome: "healthy", "run-id": expect.stringMatching(/^\w{26}$/) })
        expect(Number(back.outputs["release"])).toBeGreaterThan(Number(second.outputs["release"]))
        expect(back.shown).toContain("✅")
        const unknown = yield* job({ command: "rollback", release: "99" })
        expect([unknown.code, unknown.outputs["outcome"]]).toEqual([1, "failed"])
        expect(unknown.shown).toContain("::error title=Berth::There is no release")
        const jobs = [plan, hostile, keyless, deployed, stale, current, edited, broken, second, back, unknown]
        expectNoSecret(jobs, JSON.stringify(comments) + (yield* sshd.log))
      }))

    it.scoped("sends no credential to a server with another host key, and says in a sentence what is missing", () =>
      Effect.gen(function*() {
        const { expectNoSecret, fingerprint, job, knownHosts, reset, settings, sshd, user } = yield* Scene
        yield* reset
        const before = (yield* sshd.log).length
        const wrong = `SHA256:${"A".repeat(43)}`
        const unknown = settings.replace(/^ *hostKey:.*\n/m, "")
        const otherKey = knownHosts.replace(/.{20}\n$/, `${"A".repeat(20)}\n`)
        const refused: ReadonlyArray<readonly [more: Readonly<Record<string, string>>, words: string]> = [
          [{ settings: settings.replace(fingerprint, wrong) }, `is ${fingerprint}, and the settings require ${wrong}`],
          [{ settings: unknown }, `add it to the server in the settings as hostKey: ${fingerprint}`],
          [{ settings: unknown, "known-hosts": otherKey }, "and BERTH_KNOWN_HOSTS has"],
          [{ "ssh-key": "" }, "the environment variable BERTH_SSH_KEY is not set"],
          [{ settings: "" }, "There are no settings: give settings with a server and ssh-key"],
          [{ "service-url": "http://127.0.0.1:1" }, "There is no token for the service"],
          [{ "service-url": "http://127.0.0.1:1", token: secrets.service }, "http://127.0.0.1:1"],
          [{ settings: "servers: []\n" }, "No server is stored"],
          [{ settings: "servers: [\n" }, "BERTH_SETTINGS"],
          [{ project: "nowhere" }, "check out the repository first"],
          [{ command: "preview" }, "must be plan, deploy or rollback, and not preview"]
        ]
        for (const [more, words] of refused) {
          const result = yield* job(more)
          expect([result.code, result.shown]).toEqual([1, expect.stringContaining(words)])
          expectNoSecret([result])
        }
        expect((yield* sshd.log).slice(before)).not.toContain(user.name)
        const known = yield* job({ settings: unknown, "known-hosts": knownHosts, command: "plan" })
        expect(known.code, known.shown).toBe(0)
      }))

    it.scoped("installs Berth from its own checkout, unless the runner has the wanted version", () =>
      Effect.gen(function*() {
        const { root, run } = yield* Scene
        const { version } = JSON.parse(yield* must(() => readFile("package.json", "utf8")))
        const makePath = (programs: Readonly<Record<string, string>>) =>
          must(async () => {
            const path = await mkdtemp(join(root, "path-"))
            await symlink(process.execPath, join(path, "node"))
            for (const [name, script] of Object.entries(programs)) {
              await writeFile(join(path, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
            }
            return path
          })
        const npm = "echo \"npm $*\"; [ \"$1\" != pack ] || : >\"$RUNNER_TEMP/berth-0.tgz\""
        const install = (path: string, wanted = "") => run({ version: wanted }, { only: "Install Berth", path })
        const here = yield* makePath({ npm, berth: `echo ${version}` })
        const older = yield* makePath({ npm, berth: "echo 1.9.3" })
        for (const wanted of ["", version, version.split(".")[0], `v${version}`]) {
          expect(yield* install(here, wanted)).toMatchObject({ code: 0, shown: "\n" })
        }
        const built = yield* install(older, version)
        expect(built.code, built.shown).toBe(0)
        expect(built.shown).toMatch(/^npm ci --ignore-scripts .*\nnpm pack .*\nnpm install --global .*berth-0\.tgz$/m)
        expect(built.left).toMatch(/job-\d+\/berth\/bin$/m)
        const other = yield* install(older, "9")
        expect([other.code, other.shown]).toEqual([1, expect.stringContaining(`has Berth ${version}, and not 9`)])
        const bare = yield* install(yield* makePath({}))
        expect([bare.code, bare.shown]).toEqual([1, expect.stringContaining("install Node 20 or newer")])
      }))

    it.scoped("asks a service, with a token alone, and leaves the run to it when cancelled", () =>
      Effect.gen(function*() {
        const { expectNoSecret, keyFile, made, path, reset, run, settings } = yield* Scene
        yield* reset
        const token = secrets.service
        const root = yield* Effect.acquireRelease(
          must(() => mkdtemp(join(tmpdir(), "berth-projects-"))),
          (directory) => must(() => rm(directory, { recursive: true, force: true }))
        )
        yield* must(() => symlink(made.directory, join(root, "shop")))
        const file = yield* settingsFileWith(
          settings.replace(/^http:.*$/m, `http: { tokens: [{ name: CI, token: ${token}, role: operator }] }`)
            .replace("${env:BERTH_SSH_KEY}", keyFile)
            .concat(`projects: { root: ${root} }\n`)
        )
        const service = yield* startService(file)
        const inputs = { "service-url": service.url, token, project: "shop", server: "Main", path }
        const plan = yield* run({ ...inputs, command: "plan" })
        expect(plan.code, plan.shown).toBe(0)
        expect(plan.masks).toEqual([token])
        yield* made.compose([...made.usual, "labels: { version: service }"])
        const planned = yield* run({ ...inputs, command: "plan" })
        expect(planned.outputs["changed"]).toBe("true")
        const cut = yield* run({ ...inputs, "plan-hash": planned.outputs["plan-hash"] ?? "" }, {
          cancel: { at: /start/, signals: cancelledSooner }
        })
        expect(cut.shown).toContain("Follow it with")
        const next = yield* run(inputs)
        expect(next.outputs, next.shown).toMatchObject({
          outcome: "healthy",
          urls: `http://127.0.0.1:${made.port}`
        })
        const runs = yield* service.request("GET", "/api/runs", undefined, { authorization: `Bearer ${token}` })
        expect(runs.body).toMatchObject({ runs: [{ state: "succeeded" }, { state: "succeeded" }] })
        expectNoSecret([plan, planned, cut, next])
      }))

    it.scoped("may be cancelled at any step: the next job needs no unlock", () =>
      Effect.gen(function*() {
        const { job, made, reset } = yield* Scene
        yield* reset
        for (const at of inTurn([/upload/, /load/, /health/], 1)) {
          yield* made.build(`version ${at}`)
          const cut = yield* job({}, { cancel: { at, signals: cancelledSooner } })
          const next = yield* job()
          expect([next.code, next.outputs["outcome"]], `${at}: ${cut.shown}\n---\n${next.shown}`).toEqual([
            0,
            "healthy"
          ])
          expect(yield* made.answer).toBe(`version ${at}`)
        }
        // The container that is replaced takes longer to stop than the runner waits.
        const slow = made.usual.map((line) => line.replace("SIGKILL", "SIGWINCH"))
        yield* made.compose([...slow, "stop_grace_period: 11s"])
        expect((yield* job()).code).toBe(0)
        yield* made.build("after a long stop")
        yield* made.compose(made.usual)
        const cut = yield* job({}, { cancel: { at: /start/, signals: cancelled } })
        expect(cut.code).not.toBe(0)
        const next = yield* job()
        expect([next.code, next.outputs["outcome"]], `${cut.shown}\n---\n${next.shown}`).toEqual([0, "healthy"])
        expect(yield* made.answer).toBe("after a long stop")
      }))
  })
})
