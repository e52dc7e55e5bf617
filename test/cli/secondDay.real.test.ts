import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { join, relative } from "node:path"
import { spawnBerth } from "../fixtures/berthProcess.ts"
import { compiled } from "../fixtures/compiled.ts"
import { docker, lines, testLabel, uniqueName } from "../fixtures/docker/docker.ts"
import { realServer } from "../fixtures/docker/realProject.ts"
import { freePort } from "../fixtures/network/freePort.ts"
import { startSshd } from "../fixtures/network/openssh.ts"
import { ended } from "../fixtures/packed.ts"
import { patience } from "../fixtures/patience.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

const title = realServer.title("the first days of a project on a real server, from an empty home directory")
const busybox = ["/bin/busybox", "/usr/bin/busybox"].find(existsSync) ?? ""
const must = <A>(make: () => Promise<A>) => Effect.promise(make)

const composeOf = ({ check = "test -e /etc/site.conf", hasWorker = true }) =>
  `services:
  web:
    build: ./web
    environment:
      TOKEN: \${TOKEN}
    volumes:
      - ./site.conf:/etc/site.conf:ro
      - kept:/kept
    healthcheck:
      test: ["CMD", "/bin/busybox", "sh", "-c", "${check}"]
      interval: 1s
      retries: 2
    stop_signal: SIGKILL
${hasWorker ? "  worker:\n    build: ./web\n    stop_signal: SIGKILL\n" : ""}volumes:
  kept:
`

/** A compose project that somebody already has, and an empty home directory beside it. */
const scene = Effect.gen(function*() {
  const directory = yield* temporaryDirectory
  const name = yield* uniqueName("berth-test")
  const home = join(directory, "home")
  const project = join(directory, "code", name)
  yield* must(() => mkdir(home))
  yield* plant(project, {
    "compose.yml": composeOf({}),
    "site.conf": "first\n",
    ".env": "TOKEN=first-token-of-the-shop\n",
    "web/Dockerfile": [
      "FROM scratch",
      "COPY busybox /bin/busybox",
      `LABEL ${testLabel}=${name}`,
      "CMD [\"/bin/busybox\", \"sleep\", \"1000000\"]",
      ""
    ].join("\n")
  })
  yield* must(() => copyFile(busybox, join(project, "web", "busybox")))
  const places = [name, `${name}-staging`]
  const left = (kind: "container" | "volume" | "network") =>
    Effect.map(
      Effect.forEach(places, (place) =>
        docker(
          kind,
          "ls",
          ...kind === "container" ? ["-a"] : [],
          "-q",
          "--filter",
          `label=com.docker.compose.project=${place}`
        )),
      (found) => found.flatMap(lines)
    )
  yield* Effect.addFinalizer(() =>
    Effect.gen(function*() {
      for (const kind of ["container", "volume", "network"] as const) {
        const found = yield* left(kind)
        if (found.length > 0) yield* docker(kind, "rm", ...kind === "network" ? [] : ["-f"], ...found)
      }
      const built = lines(yield* docker("image", "ls", "-q", "--no-trunc", "--filter", `label=${testLabel}=${name}`))
      if (built.length > 0) yield* docker("image", "rm", "-f", ...new Set(built))
    }).pipe(Effect.sandbox, Effect.ignore)
  )
  return { home, left, name, project }
})

/** Paths below a directory: files, and directories without any. */
const pathsBelow = (directory: string): Effect.Effect<ReadonlyArray<string>> =>
  must(async () => {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true })
    return entries.map((entry) => relative(directory, join(entry.parentPath, entry.name)))
  })

/** Text of all pages. */
const documented = must(async () => {
  const names = (await readdir("docs")).filter((name) => name.endsWith(".md"))
  return (await Promise.all(names.map((name) => readFile(join("docs", name), "utf8")))).join("\n")
})

describe.skipIf(!realServer.available)(title, { timeout: 600_000 * patience }, () => {
  it.scopedLive("end each command as the pages say, and leave nothing that they do not name", () =>
    Effect.gen(function*() {
      const { home, left, name, project } = yield* scene
      const sshd = yield* startSshd()
      const user = yield* sshd.makeUser({ groups: ["docker"] })
      const key = yield* user.makeKey()
      const [before, own] = [yield* pathsBelow(user.home), yield* pathsBelow(project)]
      const none = { BERTH_CONFIG: "", BERTH_URL: "", BERTH_TOKEN: "", SSH_AUTH_SOCK: "", XDG_CONFIG_HOME: "" }
      const environment = { ...none, HOME: home, DOCKER_BUILDKIT: "0", NO_COLOR: "1" }
      const program = compiled("src/cli/berth.ts")
      const run = (words: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
        ended(process.execPath, [program, ...words], project, { ...environment, ...env })
      /** Runs a command in the project, where nobody can answer a question; expects its exit code. */
      const berth = (code: number, line: string, env: Readonly<Record<string, string>> = {}) =>
        Effect.map(run(line.split(" "), env), (ran) => {
          expect([line, ran.code], `${line}\n${ran.out}${ran.err}`).toEqual([line, code])
          return `${ran.out}${ran.err}`
        })
      const write = (file: string, text: string) => must(() => writeFile(join(project, file), text))
      const inWeb = (words: string) => Effect.map(berth(0, `exec web -- /bin/busybox ${words}`), (out) => out.trim())

      // A home without anything, and a server.
      expect(yield* berth(0, "overview")).toContain("First steps")
      expect(yield* berth(1, "deploy --yes")).toContain("No server is stored yet")
      const address = `${user.name}@${sshd.host}:${sshd.port}`
      const [hostKey = ""] = /SHA256:[\w+/]{43}/.exec(yield* berth(1, `server test ${address}`)) ?? []
      yield* berth(0, `server add Main ${address} --key ${key} --host-key ${hostKey}`)
      yield* berth(0, "server test Main")

      // The project as it stands.
      yield* berth(64, "init")
      yield* berth(0, "init --yes")
      expect(yield* berth(64, "deploy --build")).toContain("There is no terminal to ask on")
      expect(yield* berth(0, "deploy --dry-run")).toContain("site.conf")
      yield* berth(0, "deploy --build --yes")
      expect(yield* inWeb("cat /etc/site.conf")).toBe("first")
      yield* berth(0, "diff")
      expect(yield* berth(0, "deploy --yes")).not.toContain("recreate")

      // A change of a mounted file, and a version that does not work.
      yield* write("site.conf", "second\n")
      expect(yield* berth(2, "diff")).toContain("site.conf")
      yield* berth(0, "deploy --yes")
      expect(yield* inWeb("cat /etc/site.conf")).toBe("second")
      yield* write("compose.yml", composeOf({ check: "echo no database; exit 7" }))
      yield* run(["settings", "set", "deploy.healthTimeout", "10 seconds", "--yes"])
      const broken = yield* berth(1, "deploy --yes")
      expect(broken).toMatch(/Release \d+, which ran before, runs again and is healthy/)
      expect(broken).toContain("no database")
      yield* berth(0, "logs web --lines 5")
      yield* berth(0, "releases")
      yield* berth(0, "rollback 1 --yes")
      expect(yield* inWeb("cat /etc/site.conf")).toBe("first")
      yield* write("compose.yml", composeOf({}))
      yield* berth(0, "deploy --yes")

      // A colleague who may read, at a service.
      const token = (yield* run(["token", "add", "ann", "--viewer", "--yes"])).out.trim()
      expect(token).toMatch(/^berth_/)
      const port = String(yield* freePort)
      yield* Effect.scoped(Effect.gen(function*() {
        const service = yield* spawnBerth({ ...environment, BERTH_PORT: port }, [program, "serve"])
        const ann = { HOME: join(home, ".."), BERTH_URL: `http://127.0.0.1:${port}` }
        yield* Effect.repeat(run(["server", "list"], { ...ann, BERTH_TOKEN: token }), {
          until: ({ code }) => code === 0,
          times: 50
        })
        expect(yield* berth(0, "server list", { ...ann, BERTH_TOKEN: token }), service.output()).toContain("Main")
        expect(yield* berth(1, "stop --server Main --path ~/x --yes", { ...ann, BERTH_TOKEN: token })).toContain(
          "needs the role operator"
        )
        expect(yield* berth(1, "server list", ann)).toContain("wants a token")
        // The machine's own user goes on, at the service that runs here.
        yield* berth(0, "diff")
      }))
      yield* berth(0, "token remove ann --yes")

      // A value that is rotated, and a service that goes.
      yield* write(".env", "TOKEN=second-token-of-the-shop\n")
      const rotated = yield* berth(0, "deploy --yes")
      expect(rotated).not.toContain("second-token")
      expect(yield* inWeb("env")).toContain("TOKEN=second-token-of-the-shop")
      yield* write("compose.yml", composeOf({ hasWorker: false }))
      expect(yield* berth(0, "deploy --dry-run")).toMatch(/worker.*remove|- service worker/)
      yield* berth(0, "deploy --yes")
      expect(yield* left("container")).toHaveLength(1)

      // Staging beside it.
      const config = JSON.parse(yield* must(() => readFile(join(project, "container.json"), "utf8")))
      const environments = { staging: { remotePath: `~/containers/${name}-staging` } }
      yield* write("container.json", JSON.stringify({ ...config, environments }))
      yield* berth(0, "deploy --env staging --yes")
      expect(yield* left("container")).toHaveLength(2)
      expect(yield* berth(0, "ps")).toContain(`${name}-staging`)

      // Away again, with all of it.
      expect(yield* berth(64, "remove --env staging --volumes")).toContain("Removal of the stack")
      yield* berth(0, "remove --env staging --volumes --yes")
      expect(yield* left("container")).toHaveLength(1)
      yield* berth(0, "remove --volumes --yes")
      expect(yield* berth(1, "start")).toContain("There is no stack")
      yield* berth(0, "runs")
      yield* berth(0, "server remove Main --yes")

      for (const kind of ["container", "volume", "network"] as const) {
        expect([kind, yield* left(kind)]).toEqual([kind, []])
      }
      // Images that were built here stay, under the names of compose.
      const tags = yield* docker("image", "ls", "--format", "{{.Tag}}", "--filter", `label=${testLabel}=${name}`)
      expect(lines(tags)).not.toContain("<none>")
      const onServer = (yield* pathsBelow(user.home)).filter((path) => !before.includes(path))
      expect(onServer).toEqual(["containers"])
      expect([...(yield* pathsBelow(project))].sort()).toEqual([...own, "container.json"].sort())
      const pages = yield* documented
      const here = (yield* pathsBelow(home)).flatMap((path) =>
        /^\.(?:config|local\/state)\/berth\/([^/]+)$/.exec(path)?.[1] ?? []
      )
      expect(here).toContain("berth.yaml")
      expect(here.filter((path) => !pages.includes(path))).toEqual([])
    }))
})
