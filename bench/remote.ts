import { Effect, Schedule } from "effect"
import type { Scope } from "effect"
import { spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  directoryOf,
  type EngineName,
  environmentOf,
  packages,
  script,
  suites
} from "../test/fixtures/engines/engine.ts"
import { startSshd } from "../test/fixtures/network/openssh.ts"
import { shell } from "./shell.ts"

/** Missing requirements of the benchmark on this machine. */
export const missing = async (): Promise<ReadonlyArray<string>> => {
  if (process.platform !== "linux") return ["Linux"]
  const programs = ["dockerd", "docker", "sshd", "ssh", "scp", "useradd", "sudo"]
  const found = await Promise.all(
    programs.map((name) => shell("command -v \"$1\"", [name]).then(() => [], () => [name]))
  )
  const compose = await shell("docker compose version || docker-compose version").then(() => [], () => ["compose"])
  const busybox = await shell("test -x /bin/busybox").then(() => [], () => ["a static /bin/busybox"])
  return [...process.getuid?.() === 0 ? [] : ["root"], ...found.flat(), ...compose, ...busybox]
}

/** A server on this machine: a real sshd with a real user, and a Docker engine of its own. */
export interface Remote {
  readonly port: number
  readonly user: string
  readonly key: string
  readonly home: string
  /** The environment in which `docker` talks to the server's engine. */
  readonly env: Readonly<Record<string, string>>
}

// With --bridge=none, dockerd would delete docker0 of the machine's own engine.
const bridge = Effect.acquireRelease(
  Effect.promise(async () => {
    const name = `bench${process.pid}`
    await shell(
      "ip link add name \"$1\" type bridge && ip addr add 10.212.0.1/24 dev \"$1\" && ip link set \"$1\" up",
      [name]
    )
    return name
  }),
  (name) => Effect.promise(() => shell("ip link delete \"$1\"", [name]))
)

// Leaves the machine's own Docker alone: this one has its own images, containers and socket.
const startDocker = Effect.gen(function*() {
  const name = yield* bridge
  const directory = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "berth-bench-docker-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
  )
  yield* Effect.promise(() => shell("chmod 711 \"$1\"", [directory]))
  const socket = join(directory, "docker.sock")
  const env = { DOCKER_HOST: `unix://${socket}`, DOCKER_BUILDKIT: "0" }
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn("dockerd", [
        `--data-root=${join(directory, "data")}`,
        `--exec-root=${join(directory, "exec")}`,
        `--pidfile=${join(directory, "pid")}`,
        `--host=unix://${socket}`,
        "--group=docker",
        `--bridge=${name}`,
        "--iptables=false",
        "--ip-masq=false"
      ], { stdio: "ignore", env: { ...process.env, PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin` } })
    ),
    (daemon) =>
      Effect.promise(async () => {
        await shell("docker rm -f $(docker ps -aq) >/dev/null 2>&1 || :", [], { env })
        const ended = new Promise((resolve) => daemon.once("exit", resolve))
        daemon.kill("SIGTERM")
        await ended
      })
  )
  yield* Effect.tryPromise(() => shell("docker info >/dev/null", [], { env })).pipe(
    Effect.retry({ schedule: Schedule.spaced("200 millis"), times: 150 })
  )
  return env
})

const engine = process.env["BENCH_ENGINE"] ?? ""
const isEngine = (name: string): name is EngineName => Object.hasOwn(suites, name)

// Docker of a newer Debian release, with the containerd image store.
const startEngine = (name: EngineName) =>
  Effect.acquireRelease(
    Effect.tryPromise(() => shell("bash \"$@\"", [script("start.sh"), suites[name], directoryOf(name), packages])),
    () => Effect.promise(() => shell("bash \"$@\"", [script("stop.sh"), directoryOf(name)]))
  ).pipe(Effect.as(environmentOf(name)))

/** Starts a server; nothing of it is left when the scope closes. */
export const startRemote: Effect.Effect<Remote, Error, Scope.Scope> = Effect.gen(function*() {
  const env: Record<string, string> = isEngine(engine) ? yield* startEngine(engine) : yield* startDocker
  const variables = Object.entries(env).filter(([name]) =>
    name.startsWith("DOCKER_H") || name === "DOCKER_CONFIG" || name === "PATH"
  )
  const sshd = yield* startSshd({
    config: [`SetEnv ${variables.map(([name, value]) => `${name}=${value}`).join(" ")}`]
  })
  // A proxy file is edited through sudo.
  const user = yield* sshd.makeUser({ groups: ["docker"], sudo: "nopasswd" })
  const key = yield* user.makeKey()
  return { port: sshd.port, user: user.name, key, home: user.home, env }
})
