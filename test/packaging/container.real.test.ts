import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { chmod, chown, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parse } from "yaml"
import { docker, realDocker, removeImages, testLabel, uniqueName } from "../fixtures/docker/docker.ts"
import { nodeImage } from "../fixtures/docker/nodeImage.ts"
import { freePort } from "../fixtures/network/freePort.ts"
import { realPostgres, startPostgres } from "../fixtures/runs/postgres.ts"
import { eventually } from "../sandbox/eventually.ts"

const must = <A>(make: () => Promise<A>) => Effect.promise(make)
const user = 10001
const token = "0123456789abcdef0123456789abcdef"

/** Image that the repository's Dockerfile makes, with this machine's Node in place of the registry's. */
const builtImage = Effect.gen(function*() {
  const [node, name] = [yield* uniqueName("berth-test-node"), yield* uniqueName("berth-test-service")]
  yield* nodeImage(node)
  const registry = spawnSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).stdout.trim()
  yield* Effect.acquireRelease(
    docker(
      "build",
      "-q",
      "--network=host",
      `--build-arg=NODE=${node}`,
      `--build-arg=npm_config_registry=${registry}`,
      `--label=${testLabel}=${name}`,
      `--tag=${name}`,
      "."
    ),
    () => removeImages(name)
  )
  return name
})

/** Directory with the settings of a service, owned by the user of the image. */
const data = (settings: string) =>
  Effect.acquireRelease(
    must(async () => {
      const directory = await mkdtemp(join(tmpdir(), "berth-data-"))
      await mkdir(join(directory, "data"), { mode: 0o700 })
      await mkdir(join(directory, "projects/hello"), { recursive: true })
      await writeFile(join(directory, "projects/hello/compose.yml"), "services: { web: { image: hello } }\n")
      await writeFile(join(directory, "data/berth.yaml"), settings, { mode: 0o600 })
      for (const path of ["data", "data/berth.yaml", "projects", "projects/hello"]) {
        await chown(join(directory, path), user, user)
      }
      await chmod(directory, 0o755)
      return directory
    }),
    (directory) => must(() => rm(directory, { recursive: true, force: true }))
  )

/** Starts a container as the compose file of the packaging does, on the network of this machine. */
const started = (image: string, settings: string, variables: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function*() {
    const [directory, name, port] = [yield* data(settings), yield* uniqueName("berth-test"), yield* freePort]
    const environment = Object.entries({ BERTH_PORT: String(port), ...variables })
    yield* Effect.acquireRelease(
      docker(
        "run",
        "-d",
        `--name=${name}`,
        "--network=host",
        "--init",
        "--read-only",
        "--tmpfs=/tmp",
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges",
        "--health-interval=1s",
        ...environment.map(([key, value]) => `--env=${key}=${value}`),
        `--volume=${directory}/data:/data`,
        `--volume=${directory}/projects:/projects`,
        image
      ),
      () => Effect.ignore(Effect.sandbox(docker("rm", "-f", name)))
    )
    const get = (path: string) =>
      must(() => fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } }))
    return { directory, name, get }
  })

/** Starts a container by the commands of the documentation. */
const asDocumented = (image: string) =>
  Effect.gen(function*() {
    const [directory, name, port] = [yield* data("{}\n"), yield* uniqueName("berth-test"), yield* freePort]
    const page = yield* must(() => readFile("docs/container.md", "utf8"))
    const blocks = [...page.matchAll(/^```bash\n([\s\S]*?)^```/gm)].map(([, block = ""]) => block)
    const script = blocks.find((block) => block.includes("docker run"))?.replaceAll("sudo ", "")
      .replace("--name berth", `--name ${name} --health-interval 1s`)
      .replace("127.0.0.1:3100:", `127.0.0.1:${port}:`)
      .replace(/ berth$/m, ` ${image}`)
    yield* Effect.acquireRelease(
      Effect.sync(() => spawnSync("sh", ["-ec", script ?? ""], { cwd: directory, encoding: "utf8" })),
      () => Effect.ignore(Effect.sandbox(docker("rm", "-f", name)))
    ).pipe(Effect.tap(({ status, stderr }) => Effect.sync(() => expect(status, stderr).toBe(0))))
    const settings = yield* must(() => readFile(join(directory, "data/berth.yaml"), "utf8"))
    const authorization = `Bearer ${/token: (\S+)/.exec(settings)?.[1]}`
    const get = (path: string) => must(() => fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization } }))
    return { directory, name, get }
  })

const healthy = (name: string) =>
  eventually(
    Effect.map(docker("inspect", "--format", "{{.State.Health.Status}}", name), (status) => status === "healthy")
  )

const available = realDocker.available && realPostgres.available && process.getuid?.() === 0
const title = realPostgres.title(realDocker.title("the image of the service"))

describe.skipIf(!available)(title, { timeout: 900_000 }, () => {
  it.scopedLive("serves without root, capabilities or a writable system, and ends when it is told to", () =>
    Effect.gen(function*() {
      const image = yield* builtImage
      const contents = yield* docker("run", "--rm", "--entrypoint", "sh", image, "-c", "ls /build /tmp; id -u; id -g")
      expect(contents).toContain(`${user}\n${user}`)
      expect(contents).not.toContain("package.json")

      const refused = yield* started(image, "projects:\n  root: /projects\n")
      yield* eventually(
        Effect.map(docker("inspect", "--format", "{{.State.Running}}", refused.name), (is) => is === "false")
      )
      expect(spawnSync("docker", ["logs", refused.name], { encoding: "utf8" }).stderr).toContain(
        "Refusing to listen on 0.0.0.0"
      )

      const alone = yield* asDocumented(image)
      yield* healthy(alone.name)
      expect((yield* alone.get("/")).status).toBe(200)
      expect(yield* docker("exec", alone.name, "berth", "overview")).toContain("hello")
      yield* docker("stop", "-t", "45", alone.name)
      expect(yield* docker("inspect", "--format", "{{.State.ExitCode}}", alone.name)).toBe("0")
      expect(yield* must(() => readdir(join(alone.directory, "data")))).toContain("berth.db")

      // With the settings file that the packaging has, and a PostgreSQL.
      const postgres = yield* startPostgres()
      const example = yield* must(() => readFile("packaging/berth.yaml", "utf8"))
      const shared = yield* started(image, example, {
        BERTH_ADMIN_TOKEN: token,
        BERTH_STATE_URL: yield* postgres.database()
      })
      yield* healthy(shared.name)
      const health = yield* shared.get("/api/health?deep=true")
      expect(JSON.stringify(yield* must(() => health.json()))).toContain("PostgreSQL")
      yield* docker("stop", "-t", "45", shared.name)
      expect(yield* docker("inspect", "--format", "{{.State.ExitCode}}", shared.name)).toBe("0")
      expect(yield* must(() => readdir(join(shared.directory, "data")))).not.toContain("berth.db")
    }))

  it.scopedLive("is what the compose file of the packaging starts", () =>
    Effect.gen(function*() {
      const directory = yield* Effect.acquireRelease(
        must(() => mkdtemp(join(tmpdir(), "berth-packaging-"))),
        (path) => must(() => rm(path, { recursive: true, force: true }))
      )
      yield* must(() => copyFile("packaging/compose.yml", join(directory, "compose.yml")))
      const config = ["-f", join(directory, "compose.yml"), "config"]
      const variables = {
        BERTH_DOMAIN: "berth.example.com",
        BERTH_ADMIN_TOKEN: token,
        BERTH_DATABASE_PASSWORD: "secret"
      }
      const compose = spawnSync("sh", ["-c", "docker compose \"$@\" || docker-compose \"$@\"", "sh", ...config], {
        encoding: "utf8",
        env: { ...process.env, ...variables }
      })
      expect(compose.status, compose.stderr).toBe(0)
      const { services } = parse(compose.stdout)
      expect(services.berth).toMatchObject({ read_only: true, cap_drop: ["ALL"] })
      expect(services.berth.environment.BERTH_STATE_URL).toBe("postgres://berth:secret@database:5432/berth")
    }))
})
