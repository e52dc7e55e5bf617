import { Command, FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import type { PlatformError } from "@effect/platform/Error"
import { Clock, Effect, Redacted, Schema, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { tmpdir } from "node:os"
import { delimiter } from "node:path"
import { fileURLToPath } from "node:url"
import { parse, stringify } from "yaml"
import { type CoolifyDouble, makeCoolifyDouble } from "./coolify.ts"
import { type GitHostDouble, makeGiteaDouble, makeGitHostDouble } from "./gitHost.ts"
import { SandboxFailed } from "./httpDouble.ts"
import { makePlatformDouble, type PlatformDouble } from "./platform.ts"
import { buildHelloProject, type FileTree, greeterDeployment, notesProject, renderProxyFile } from "./projects.ts"
import { toSandboxPath } from "./sftp.ts"
import { makeSshServer, type SshServer } from "./sshServer.ts"

const prefix = "berth-sandbox-"
const ownerFile = ".owner"

/** Scoped temporary directory. A file in it names its process, for cleanup after a kill. */
export const ownedDirectory: Effect.Effect<
  string,
  PlatformError,
  FileSystem.FileSystem | Path.Path | Scope.Scope
> = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const directory = yield* files.makeTempDirectoryScoped({ prefix })
  yield* files.writeFileString(path.join(directory, ownerFile), String(process.pid), { mode: 0o600 })
  return directory
})

/** True if the process has ended; processes of other users count as alive. */
const hasEnded = (owner: string): boolean => {
  if (!/^\d{1,10}$/.test(owner)) return false
  try {
    process.kill(Number(owner), 0)
    return false
  } catch (cause) {
    return cause instanceof Error && "code" in cause && cause.code === "ESRCH"
  }
}

/** Removes directories of killed sandboxes, whose settings hold passwords. Failures are ignored. */
export const removeOrphans: Effect.Effect<void, never, FileSystem.FileSystem | Path.Path> = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const names = (yield* files.readDirectory(tmpdir())).filter((name) => name.startsWith(prefix))
  yield* Effect.forEach(names, (name) => {
    const directory = path.join(tmpdir(), name)
    return files.readFileString(path.join(directory, ownerFile)).pipe(
      Effect.flatMap((owner) => hasEnded(owner) ? files.remove(directory, { recursive: true }) : Effect.void),
      Effect.ignore
    )
  }, { concurrency: 8, discard: true })
}).pipe(Effect.ignore)

/** Recorded call of `docker` on a sandbox server. */
interface DockerCall {
  /** True if called through sudo. */
  readonly root: boolean
  readonly args: ReadonlyArray<string>
}

/** Faults that a sandbox server can simulate. */
type ServerFlaw =
  | "docker-is-down"
  /** Only root may use Docker. */
  | "docker-needs-root"
  | "docker-without-compose"
  /** sudo requires no password. */
  | "sudo-nopasswd"

/** Stand-in programs of one sandbox server, and the state of its simulated Docker. */
interface StandIns {
  /** Directory to prepend to the server's PATH. */
  readonly bin: string
  /** Environment of its commands. */
  readonly env: { readonly BERTH_SANDBOX_STATE: string }
  readonly setFlaw: (flaw: ServerFlaw, on: boolean) => Effect.Effect<void, SandboxFailed>
  /** Sets the version that `docker version` prints. */
  readonly setDockerVersion: (version: string) => Effect.Effect<void, SandboxFailed>
  /** Sets the storage driver of `docker info`: `overlay2`, or `overlayfs` for the containerd image store. */
  readonly setStorageDriver: (driver: string) => Effect.Effect<void, SandboxFailed>
  /** Recorded calls, oldest first. */
  readonly dockerCalls: Effect.Effect<ReadonlyArray<DockerCall>, SandboxFailed>
}

// Resolves from the sources and from the build alike.
const sources = fileURLToPath(new URL("../../src/sandbox/stand-ins", import.meta.url))

const parseCalls = (log: string): ReadonlyArray<DockerCall> =>
  log.split("\u001e\n").filter((call) => call !== "").map((call) => {
    const [as, ...args] = call.split("\u001f")
    return { root: as === "root", args }
  })

const failed = ({ message }: { readonly message: string }) =>
  new SandboxFailed({ part: "stand-in programs", reason: message })

/**
 * Installs the stand-in programs in a scoped directory: always `docker`, `sudo` (which requires this password) and `id`;
 * `flock`, `sha256sum` and `stat` only where this machine lacks them.
 */
export const makeStandIns = (options: {
  readonly sudoPassword: Redacted.Redacted
}): Effect.Effect<StandIns, SandboxFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const root = yield* files.makeTempDirectoryScoped({ prefix: "berth-server-" })
    const bin = path.join(root, "bin")
    const state = path.join(root, "state")
    yield* Effect.forEach([bin, path.join(root, "lib"), state], (directory) => files.makeDirectory(directory))

    const copy = (from: string, to: string) =>
      Effect.gen(function*() {
        const names = yield* files.readDirectory(path.join(sources, from))
        yield* Effect.forEach(names, (name) => {
          const target = path.join(root, to, name)
          return Effect.zipRight(files.copyFile(path.join(sources, from, name), target), files.chmod(target, 0o755))
        }, { concurrency: 8, discard: true })
      })
    const isMissing = (name: string) =>
      // The stat of macOS has other options.
      name === "stat"
        ? Effect.succeed(process.platform === "darwin")
        : Effect.exists(
          (process.env["PATH"] ?? "").split(delimiter),
          (directory) => Effect.orElseSucceed(files.exists(path.join(directory, name)), () => false)
        ).pipe(Effect.map((isInstalled) => !isInstalled))
    yield* Effect.all([copy("bin", "bin"), copy("lib", "lib")], { concurrency: 2 })
    yield* Effect.forEach(["flock", "sha256sum", "stat"], (name) =>
      Effect.gen(function*() {
        if (!(yield* isMissing(name))) return
        yield* files.copyFile(path.join(sources, "missing", name), path.join(bin, name))
        yield* files.chmod(path.join(bin, name), 0o755)
      }))
    const note = (name: string, text: string) =>
      Effect.mapError(files.writeFileString(path.join(state, name), `${text}\n`, { mode: 0o600 }), failed)
    yield* note("sudo-password", Redacted.value(options.sudoPassword))

    const calls = path.join(state, "docker", "calls")
    return {
      bin,
      env: { BERTH_SANDBOX_STATE: state },
      setFlaw: (flaw, on) =>
        on ? note(flaw, "") : Effect.mapError(files.remove(path.join(state, flaw), { force: true }), failed),
      setDockerVersion: (version) => note("docker-version", version),
      setStorageDriver: (driver) => note("docker-driver", driver),
      dockerCalls: Effect.if(files.exists(calls), {
        onTrue: () => Effect.map(files.readFileString(calls), parseCalls),
        onFalse: () => Effect.succeed([])
      }).pipe(Effect.mapError(failed))
    } satisfies StandIns
  }).pipe(
    Effect.catchTags({
      BadArgument: (error) => failed(error),
      SystemError: (error) => failed(error)
    }),
    Effect.provide(NodeContext.layer),
    Effect.withSpan("makeStandIns")
  )

/** Everything that Berth works with, on this machine. All paths are absolute and local. */
export interface World {
  readonly settingsFile: string
  /** Root of the sample projects: `hello` is deployable, `notes` is not. */
  readonly projects: string
  /** Id of the only stored server. */
  readonly serverId: string
  readonly server: SshServer
  /** Home of the server's user, with the deployed `containers/greeter`. */
  readonly home: string
  readonly standIns: StandIns
  /** Dynamic configuration of the reverse proxy on the server. */
  readonly proxyFile: string
  readonly platform: PlatformDouble
  readonly gitHost: GitHostDouble
}

const serverId = "sandbox"
// Occurs only in the proxy's configuration; receives no traffic.
const targetIp = "192.168.77.10"
const owner = "sandbox"

const secret = (prefix: string) => Effect.sync(() => Redacted.make(`${prefix}-${randomBytes(16).toString("hex")}`))

const filesFailed = ({ message }: { readonly message: string }) => new SandboxFailed({ part: "files", reason: message })

const writeTree = (root: string, tree: FileTree) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    yield* Effect.forEach(Object.entries(tree), ([name, content]) =>
      Effect.gen(function*() {
        const target = path.join(root, ...name.split("/"))
        yield* files.makeDirectory(path.dirname(target), { recursive: true })
        yield* typeof content === "string" ? files.writeFileString(target, content) : files.writeFile(target, content)
        if (name.endsWith(".env")) yield* files.chmod(target, 0o600)
      }))
  })

/** Loads the image of the deployed stack and starts it. */
const startGreeter = (home: string, standIns: StandIns) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const directory = path.join(home, "containers", "greeter")
    const run = Command.make("sh", "-c", "docker load -i greeter.tar && docker compose up -d").pipe(
      Command.workingDirectory(directory),
      Command.env({
        ...standIns.env,
        BERTH_SANDBOX_ROOT: "1",
        HOME: home,
        PATH: [standIns.bin, process.env["PATH"] ?? ""].join(delimiter)
      })
    )
    const code = yield* Command.exitCode(run).pipe(
      Effect.mapError(() =>
        new SandboxFailed({
          part: "shell",
          reason: "a POSIX sh is needed on the PATH. On Windows the one that comes with Git will do"
        })
      )
    )
    if (Number(code) !== 0) {
      return yield* new SandboxFailed({ part: "stand-in programs", reason: `docker ended with exit code ${code}` })
    }
  })

const settings = (world: Omit<World, "settingsFile">, webhookSecret: Redacted.Redacted) => ({
  projects: { root: world.projects },
  platform: {
    url: world.platform.url,
    token: Redacted.value(world.platform.token),
    projectUuid: "project-sandbox",
    defaultServerUuid: "server-lan",
    privateKeyUuid: "key-sandbox"
  },
  gitHost: {
    url: world.gitHost.url,
    token: Redacted.value(world.gitHost.token),
    sshHost: "git.sandbox.test",
    owner,
    webhookSecret: Redacted.value(webhookSecret)
  },
  proxy: { configFile: toSandboxPath(world.proxyFile), server: serverId, targetIp },
  deploy: { healthTimeout: "20 seconds", healthInterval: "500 millis" },
  servers: [{
    id: serverId,
    name: "Sandbox",
    host: world.server.host,
    port: world.server.port,
    username: world.server.username,
    password: Redacted.value(world.server.password),
    useSudo: true
  }]
})

const worldWith = (
  options: { readonly confined: boolean }
): Effect.Effect<World, SandboxFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const root = yield* ownedDirectory
    const home = path.join(root, "home")
    const projects = path.join(root, "projects")
    const proxy = path.join(root, "proxy", "dynamic.yml")
    yield* Effect.all([
      writeTree(path.join(projects, "hello"), buildHelloProject(serverId)),
      writeTree(path.join(projects, "notes"), notesProject),
      writeTree(path.join(home, "containers", "greeter"), greeterDeployment),
      writeTree(path.dirname(proxy), { "dynamic.yml": renderProxyFile(targetIp) })
    ], { concurrency: "unbounded" })

    const password = yield* secret("password")
    const standIns = yield* makeStandIns({ sudoPassword: password })
    yield* standIns.setFlaw("docker-needs-root", true)
    const server = yield* makeSshServer({ home, password, path: [standIns.bin], env: standIns.env, ...options })
    const platform = yield* makePlatformDouble({
      token: yield* secret("platform"),
      seed: {
        servers: [
          { uuid: "server-lan", name: "lan", ip: targetIp },
          { uuid: "server-local", name: "localhost", ip: "host.docker.internal" }
        ],
        applications: [{
          name: "greeter",
          build_pack: "composestack",
          git_repository: `git@git.sandbox.test:2004/${owner}/greeter.git`,
          compose_location: "/compose.yml",
          fqdn: "https://greeter.sandbox.test",
          envs: { HOST_PORT: "2007" }
        }]
      }
    })
    const gitHost = yield* makeGitHostDouble({
      token: yield* secret("git"),
      seed: { repositories: { [`${owner}/hello`]: [], [`${owner}/notes`]: [], [`${owner}/greeter`]: [] } }
    })
    yield* startGreeter(home, standIns)

    const world = { projects, serverId, server, home, standIns, proxyFile: proxy, platform, gitHost }
    const settingsFile = path.join(root, "berth.yaml")
    yield* files.writeFileString(settingsFile, stringify(settings(world, yield* secret("webhook"))), { mode: 0o600 })
    return { ...world, settingsFile }
  }).pipe(
    Effect.catchTags({
      BadArgument: (error) => filesFailed(error),
      SystemError: (error) => filesFailed(error)
    }),
    Effect.provide(NodeContext.layer),
    Effect.withClock(Clock.make()),
    Effect.withSpan("makeWorld")
  )

/**
 * Starts a world on this machine: a server to deploy to, a platform, a git host, sample projects and their settings.
 * Closing the scope removes all of it.
 */
export const makeWorld = worldWith({ confined: false })

/** World whose SFTP is confined to the user's home, for fuzzing of paths. */
export const makeConfinedWorld = worldWith({ confined: true })

/** World with Coolify as platform and Gitea as git host. */
export interface CoolifyWorld extends Omit<World, "platform" | "gitHost"> {
  readonly platform: CoolifyDouble
  readonly gitHost: GitHostDouble
}

const Section = Schema.Record({ key: Schema.String, value: Schema.Unknown })
const SettingsText = Schema.Struct(
  { platform: Section, gitHost: Schema.Struct({ owner: Schema.String }, Section) },
  Section
)

const settingsFailed = (error: { readonly message: string }) =>
  new SandboxFailed({ part: "settings", reason: error.message })

/** Coolify's names of the build packs, written down independently of the code under test. */
const buildPacks: Readonly<Record<string, string>> = {
  composestack: "dockercompose",
  autopack: "nixpacks",
  imagefile: "dockerfile"
}

/** Converts the neutral world's platform to Coolify's records. */
const seedFromNeutral = ({ platform: { state } }: World) =>
  Effect.gen(function*() {
    const applications = yield* Effect.forEach(yield* state.applications, (app) =>
      Effect.gen(function*() {
        const envs = yield* Effect.orElseSucceed(state.envs(app.uuid), () => [])
        const { build_pack, compose_location, fqdn, git_branch, git_repository, name, status, uuid } = app
        return {
          uuid,
          name,
          status,
          git_repository,
          git_branch,
          build_pack: buildPacks[String(build_pack)] ?? String(build_pack),
          docker_compose_location: compose_location,
          docker_compose_raw: `services:\n  ${name}:\n    image: ${name}\n`,
          docker_compose_domains: fqdn === null ? null : JSON.stringify({ [name]: { domain: fqdn } }),
          envs: Object.fromEntries(envs.map(({ key, value }) => [key, { value }]))
        }
      }))
    return { servers: state.servers, applications }
  })

/** Starts `makeWorld` with Coolify and Gitea, and selects them in its settings. */
export const makeCoolifyWorld: Effect.Effect<CoolifyWorld, SandboxFailed, Scope.Scope> = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const world = yield* makeWorld
  const text = yield* Effect.mapError(files.readFileString(world.settingsFile), settingsFailed)
  const settings = yield* Effect.mapError(
    Effect.flatMap(
      Effect.try({ try: (): unknown => parse(text), catch: (cause) => new Error(String(cause)) }),
      Schema.decodeUnknown(SettingsText)
    ),
    settingsFailed
  )
  const { owner } = settings.gitHost
  const platform = yield* makeCoolifyDouble({ token: world.platform.token, seed: yield* seedFromNeutral(world) })
  const gitHost = yield* makeGiteaDouble({
    token: world.gitHost.token,
    seed: { repositories: { [`${owner}/hello`]: [], [`${owner}/notes`]: [], [`${owner}/greeter`]: [] } }
  })
  const changed = {
    ...settings,
    platform: { ...settings.platform, profile: "coolify", url: `${platform.url}/api/v1` },
    gitHost: { ...settings.gitHost, profile: "gitea", url: gitHost.url }
  }
  yield* Effect.mapError(files.writeFileString(world.settingsFile, stringify(changed), { mode: 0o600 }), settingsFailed)
  return { ...world, platform, gitHost }
}).pipe(Effect.provide(NodeContext.layer))
