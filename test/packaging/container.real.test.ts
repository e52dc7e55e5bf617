import { describe, expect, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { chmod, chown, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { parse } from "yaml"
import { docker, realDocker, removeImages, testLabel, uniqueName } from "../fixtures/docker/docker.ts"
import { nodeImage } from "../fixtures/docker/nodeImage.ts"
import { packages, suites } from "../fixtures/engines/engine.ts"
import { freePort } from "../fixtures/network/freePort.ts"
import { startSshd } from "../fixtures/network/openssh.ts"
import { realPostgres, startPostgres } from "../fixtures/runs/postgres.ts"
import { eventually } from "../sandbox/eventually.ts"

const must = <A>(make: () => Promise<A>) => Effect.promise(make)
const user = 10001
const token = "0123456789abcdef0123456789abcdef"

const sharedLibraries = (program: string) =>
  [...spawnSync("ldd", [program], { encoding: "utf8" }).stdout.matchAll(/\/\S+/g)].map(([path]) => path)

/** Copies a program of this machine with its libraries below a root. */
const copyProgram = async (root: string, from: string, to: string) => {
  for (const [source, target] of [[from, to], ...sharedLibraries(from).map((path) => [path, path])] as const) {
    await mkdir(join(root, dirname(target)), { recursive: true })
    await copyFile(source, join(root, target))
  }
}

/** Builds an image of files, in the place of one that only a registry has. */
const imageOf = (prefix: string, from: string, fill: (root: string) => Promise<void>) =>
  Effect.gen(function*() {
    const [directory, name] = [
      yield* Effect.acquireRelease(
        must(() => mkdtemp(join(tmpdir(), "berth-image-"))),
        (path) => must(() => rm(path, { recursive: true, force: true }))
      ),
      yield* uniqueName(prefix)
    ]
    yield* must(async () => {
      await mkdir(join(directory, "root"))
      await fill(join(directory, "root"))
      await writeFile(join(directory, "Dockerfile"), `FROM ${from}\nCOPY root /\nLABEL ${testLabel}=${name}\n`)
    })
    yield* Effect.acquireRelease(docker("build", "-q", "-t", name, directory), () => removeImages(name))
    return name
  })

// Docker's own programs of a newer Debian where a suite has unpacked them: the machine's are without buildx.
const newer = join(packages, suites.engine26)
const dockerPrograms = existsSync(newer)
  ? [join(newer, "bin/docker"), join(newer, "config/cli-plugins/docker-buildx")] as const
  : ["/usr/bin/docker", undefined] as const

/** Stands in for the image of Docker's client. */
const dockerImage = imageOf("berth-test-docker", "scratch", async (root) => {
  const [client, buildx] = dockerPrograms
  await copyProgram(root, client, "/usr/local/bin/docker")
  const plugin = "/usr/local/libexec/docker/cli-plugins/docker-buildx"
  if (buildx !== undefined) return copyProgram(root, buildx, plugin)
  await mkdir(join(root, dirname(plugin)), { recursive: true })
  await writeFile(join(root, plugin), "#!/bin/sh\n", { mode: 0o755 })
})

/** This machine's Node in place of the registry's image, with a stand-in for apt that installs this machine's git. */
const makeNodeImage = Effect.gen(function*() {
  const node = yield* uniqueName("berth-test-node")
  yield* nodeImage(node)
  return yield* imageOf("berth-test-apt", node, async (root) => {
    await copyProgram(root, "/usr/bin/git", "/opt/git")
    const install = "#!/bin/sh\ncase \" $* \" in *' install '*' git '*) mv /opt/git /usr/bin/git ;; esac\n"
    await mkdir(join(root, "usr/bin"), { recursive: true })
    await writeFile(join(root, "usr/bin/apt-get"), install, { mode: 0o755 })
  })
})

/** Both Dockerfiles build upon one image, so that they share their first stages. */
class NodeImage extends Context.Tag("NodeImage")<NodeImage, string>() {
  static readonly layer = Layer.scoped(NodeImage, makeNodeImage)
}

/** Builds an image of the repository. */
const built = (prefix: string, args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const [node, name] = [yield* NodeImage, yield* uniqueName(prefix)]
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
        ...args,
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
  layer(NodeImage.layer, { timeout: "15 minutes", excludeTestServices: true })((it) => {
    it.scoped("serves without root, capabilities or a writable system, and ends when it is told to", () =>
      Effect.gen(function*() {
        const image = yield* built("berth-test-service", [])
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

    it.scoped("is what the compose file of the packaging starts", () =>
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

    it.scoped("has a variant with the command line alone, which plans against a server, and one that builds", () =>
      Effect.gen(function*() {
        const of = (target: string) => ["--file=packaging/cli.Dockerfile", `--target=${target}`]
        const cli = yield* built("berth-test-cli", of("cli"))
        const { version } = JSON.parse(yield* must(() => readFile("package.json", "utf8")))
        expect(yield* docker("run", "--rm", cli, "berth", "--version")).toBe(version)
        const contents = yield* docker("run", "--rm", cli, "sh", "-c", "ls /build /tmp; command -v git docker; true")
        expect(contents).not.toMatch(/package\.json|bin\/(git|docker)/)

        const image = yield* Effect.acquireRelease(uniqueName("berth-test-built"), removeImages)
        // A job: the checkout is mounted, the settings and the key are variables, and there is no terminal and no home.
        const sshd = yield* startSshd()
        const user = yield* sshd.makeUser({ groups: ["docker"] })
        const key = yield* Effect.flatMap(user.makeKey(), (file) => must(() => readFile(file, "utf8")))
        const directory = yield* Effect.acquireRelease(
          must(() => mkdtemp(join(tmpdir(), "berth-checkout-"))),
          (path) => must(() => rm(path, { recursive: true, force: true }))
        )
        yield* must(() =>
          writeFile(join(directory, "compose.yml"), `services:\n  web:\n    image: ${image}\n    build: web\n`)
        )
        yield* must(() => mkdir(join(directory, "web")))
        yield* must(() =>
          writeFile(join(directory, "web/Dockerfile"), `FROM scratch\nCOPY Dockerfile /\nLABEL ${testLabel}=${image}\n`)
        )
        const settings =
          `servers:\n  - { id: main, name: Main, host: 127.0.0.1, port: ${sshd.port}, username: ${user.name}, ` +
          "privateKey: \"${env:BERTH_SSH_KEY}\" }\n"
        const job = (image: string, ...args: ReadonlyArray<string>) =>
          Effect.sync(() =>
            spawnSync("docker", [
              "run",
              "--rm",
              "--network=host",
              `--volume=${directory}:/work`,
              "--volume=/var/run/docker.sock:/var/run/docker.sock",
              "--env=BERTH_SETTINGS",
              "--env=BERTH_SSH_KEY",
              "--env=BERTH_KNOWN_HOSTS",
              image,
              ...args
            ], {
              encoding: "utf8",
              env: {
                ...process.env,
                BERTH_SETTINGS: settings,
                BERTH_SSH_KEY: key,
                BERTH_KNOWN_HOSTS: `[127.0.0.1]:${sshd.port} ${knownKey}`
              }
            })
          )
        const knownKey = yield* sshd.hostKey()
        const plan = yield* job(
          cli,
          "berth",
          "deploy",
          ".",
          "--path",
          "~/containers/work",
          "--dry-run",
          "--report",
          "plan.md"
        )
        expect(yield* must(() => readFile(join(directory, "plan.md"), "utf8")), plan.stderr).toMatch(/^### `work` /)
        expect(plan.stdout).toContain("~/containers/work on Main")
        const unbuildable = yield* job(cli, "berth", "build", ".")
        expect([unbuildable.status, unbuildable.stderr]).toEqual([1, expect.stringMatching(/docker/i)])

        const build = yield* built("berth-test-build", [...of("build"), `--build-arg=DOCKER=${yield* dockerImage}`])
        const programs = yield* docker(
          "run",
          "--rm",
          build,
          "sh",
          "-c",
          "git config --system safe.directory; docker --version"
        )
        expect(programs).toMatch(/^\*\nDocker version /)
        if (dockerPrograms[1] !== undefined) {
          expect(yield* docker("run", "--rm", build, "docker", "buildx", "version")).toContain(
            "github.com/docker/buildx"
          )
        }
        const made = yield* job(build, "berth", "build", ".")
        expect(made.status, made.stderr).toBe(0)
        expect(made.stderr).toContain("Built")
      }))
  })
})
