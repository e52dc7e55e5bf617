import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Effect, Redacted, type Scope } from "effect"
import { delimiter } from "node:path"
import { fileURLToPath } from "node:url"
import { SandboxFailed } from "./ports/SandboxFailed.ts"

/** Recorded call of `docker` on a sandbox server. */
export interface DockerCall {
  /** True if called through sudo. */
  readonly root: boolean
  readonly args: ReadonlyArray<string>
}

/** Faults that a sandbox server can simulate. */
export type ServerFlaw =
  | "docker-is-down"
  /** Only root may use Docker. */
  | "docker-needs-root"
  | "docker-without-compose"
  /** sudo requires no password. */
  | "sudo-nopasswd"

/** Stand-in programs of one sandbox server, and the state of its simulated Docker. */
export interface StandIns {
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
