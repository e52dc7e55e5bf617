import { Effect, Schedule } from "effect"
import type { Scope } from "effect"
import { spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startSshd } from "../test/fixtures/openssh.ts"
import { shell } from "./shell.ts"

/** What this machine lacks for the benchmark. */
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

// Nothing of the machine's own Docker is touched: this one has its own images, containers and socket.
const startDocker = Effect.gen(function*() {
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
        "--bridge=none",
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

/** Starts a server; nothing of it is left when the scope closes. */
export const startRemote: Effect.Effect<Remote, Error, Scope.Scope> = Effect.gen(function*() {
  const env = yield* startDocker
  const sshd = yield* startSshd({ config: [`SetEnv DOCKER_HOST=${env.DOCKER_HOST}`] })
  const user = yield* sshd.makeUser({ groups: ["docker"] })
  const key = yield* user.makeKey()
  return { port: sshd.port, user: user.name, key, home: user.home, env }
})
