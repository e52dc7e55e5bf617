import { Command, FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Clock, Effect, Redacted, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { delimiter } from "node:path"
import { stringify } from "yaml"
import { type GitHostDouble, makeGitHostDouble } from "./gitHostDouble.ts"
import { ownedDirectory } from "./ownedDirectory.ts"
import { makePlatformDouble, type PlatformDouble } from "./platformDouble.ts"
import { SandboxFailed } from "./ports/SandboxFailed.ts"
import { buildHelloProject, type FileTree, greeterDeployment, notesProject, renderProxyFile } from "./sampleProjects.ts"
import { toSandboxPath } from "./ssh/remotePath.ts"
import { makeSshServer, type SshServer } from "./sshServer.ts"
import { makeStandIns, type StandIns } from "./standIns.ts"

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

const failed = ({ message }: { readonly message: string }) => new SandboxFailed({ part: "files", reason: message })

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
      BadArgument: (error) => failed(error),
      SystemError: (error) => failed(error)
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
