import { Effect, type Scope } from "effect"
import { generateKeyPairSync } from "node:crypto"
import { mkdir, writeFile } from "node:fs/promises"
import { createServer as createHttpServer } from "node:http"
import { createServer, type Socket } from "node:net"
import { join } from "node:path"
import ssh2 from "ssh2"
import { listenOnLoopback } from "../../src/sandbox/httpDouble.ts"
import { openLine } from "../line.ts"
import { median, megabytes, millis } from "../numbers.ts"
import type { Section } from "../report.ts"
import { type Service, startService } from "../service.ts"

const counts = [1, 10, 100]
const appsEach = 10
const atOnce = 16
const line = { roundTripMillis: 20, bitsPerSecond: 100_000_000 }
/** Longer than an overview is shown again. */
const pause = 3_200

const { privateKey } = generateKeyPairSync("ec", {
  namedCurve: "P-256",
  privateKeyEncoding: { format: "pem", type: "sec1" },
  publicKeyEncoding: { format: "pem", type: "spki" }
})

/** An SSH server whose only answer is that its stacks run, and how many connections it has. */
const standIn = Effect.gen(function*() {
  const open = new Set<Socket>()
  const stacks = Array.from(
    { length: appsEach },
    (_, index) => `container\tUp 3 hours\tapp-${index}\t/home/bench/stacks/app-${index}\n`
  )
  const answer = `home\t/home/bench\n${stacks.join("")}`
  const ssh = new ssh2.Server({ hostKeys: [privateKey] }, (connection) => {
    connection.on("error", () => undefined)
    connection.on("authentication", (context) => context.accept())
    connection.on("session", (accept) => {
      accept().on("exec", (accept) => {
        const channel = accept()
        channel.resume()
        channel.write(answer)
        channel.exit(0)
        channel.end()
      })
    })
  })
  const server = createServer((socket) => {
    open.add(socket.once("close", () => open.delete(socket)))
    ssh.injectSocket(socket)
  })
  return { port: yield* listenOnLoopback("ssh", server), connections: () => open.size }
})

/** A platform with these applications, which takes the line's time for every answer. */
const platform = (names: ReadonlyArray<string>) => {
  const list = JSON.stringify(names.map((name, index) => ({
    uuid: `uuid-${index}`,
    name,
    build_pack: "composestack",
    git_repository: `git@git.example:2004/bench/${name}.git`,
    git_branch: "master",
    status: "running:healthy",
    fqdn: null,
    base_directory: "/",
    compose_location: "/compose.yml",
    is_static: false
  })))
  const server = createHttpServer((request, response) => {
    const body = request.url === "/applications" ? list : "[]"
    setTimeout(() => response.setHeader("content-type", "application/json").end(body), line.roundTripMillis)
  })
  return Effect.map(listenOnLoopback("platform", server), (port) => `http://127.0.0.1:${port}`)
}

interface Seen {
  readonly servers: ReadonlyArray<{ readonly answers: boolean }>
  readonly applications: ReadonlyArray<{ readonly drift: number | null }>
}
const isSeen = (body: unknown): body is Seen =>
  typeof body === "object" && body !== null && "servers" in body && "applications" in body

const looked = async (service: Service) => {
  const began = performance.now()
  const body = await service.get("/api/overview")
  if (!isSeen(body)) throw new Error("the overview is not one")
  return {
    took: performance.now() - began,
    answered: body.servers.filter(({ answers }) => answers).length,
    compared: body.applications.filter(({ drift }) => drift !== null).length
  }
}

/** Asks for the drift of every application, sixteen at once. */
const driftOfAll = async (
  { url }: Service,
  apps: ReadonlyArray<{ readonly appName: string; readonly projectPath: string }>
) => {
  const left = [...apps]
  const worker = async () => {
    for (let app = left.pop(); app !== undefined; app = left.pop()) {
      const response = await fetch(`${url}/api/platform/drift`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(app)
      })
      if (response.status !== 200) throw new Error(await response.text())
      await response.arrayBuffer()
    }
  }
  const began = performance.now()
  await Promise.all(Array.from({ length: atOnce }, worker))
  return performance.now() - began
}

const measured = (
  directory: string,
  count: number,
  rounds: number
): Effect.Effect<ReadonlyArray<string>, unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const ssh = yield* standIn
    const lines = yield* Effect.forEach(Array.from({ length: count }), () => openLine(ssh.port, line))
    const root = join(directory, `scale-${count}`)
    const projects = lines.map((_, server) => ({
      path: join(root, `project-${server}`),
      names: Array.from({ length: appsEach }, (_, app) => `app-${server}-${app}`)
    }))
    yield* Effect.promise(async () => {
      for (const [server, { names, path }] of projects.entries()) {
        await mkdir(path, { recursive: true })
        const entries = names.map((name) => ({ name, buildpack: "composestack", branch: "master" }))
        await writeFile(join(path, "platform.json"), JSON.stringify(entries))
        await writeFile(join(path, "compose.yml"), "services: {}\n")
        const deployed = { serverId: String(server), remotePath: "/home/bench/stacks/app-0" }
        await writeFile(join(path, "container.json"), JSON.stringify(deployed))
      }
    })
    const url = yield* platform(projects.flatMap(({ names }) => names))
    const server = { host: "127.0.0.1", username: "bench", password: "bench" }
    const service = yield* startService(directory, {
      projects: { root },
      platform: { url, token: "bench" },
      gitHost: { url, owner: "bench", sshHost: "git.example" },
      servers: lines.map(({ port }, index) => ({ id: String(index), name: `server ${index}`, port, ...server }))
    })
    return yield* Effect.promise(async () => {
      const { now: before } = await service.memory()
      const cold = await looked(service)
      const took: Array<number> = []
      let warm = cold
      for (let round = 0; round < rounds; round++) {
        await new Promise((resolve) => setTimeout(resolve, pause))
        warm = await looked(service)
        took.push(warm.took)
      }
      const apps = projects.flatMap(({ names, path }) => names.map((appName) => ({ appName, projectPath: path })))
      const drift = await driftOfAll(service, apps)
      const { now, peak } = await service.memory()
      return [
        String(count),
        `${millis(cold.took)} (${cold.answered} servers, ${cold.compared} applications)`,
        `${millis(median(took))} (${warm.answered} servers, ${warm.compared} applications)`,
        millis(drift),
        String(ssh.connections()),
        megabytes(before),
        megabytes(now),
        megabytes(peak)
      ]
    })
  })

/** Measures many servers and applications: the overview, all drift, memory and connections. */
export const scale = (directory: string, rounds: number) =>
  Effect.gen(function*() {
    const rows: Array<ReadonlyArray<string>> = []
    for (const count of counts) rows.push(yield* Effect.scoped(measured(directory, count, rounds)))
    const section: Section = {
      title: `Servers with ${appsEach} applications each, at ${line.roundTripMillis} ms`,
      columns: [
        "servers",
        "first overview",
        "overview, warm",
        "drift of all, one by one",
        "connections",
        "memory before",
        "after",
        "highest"
      ],
      rows,
      notes: [
        "Servers and platform are stand-ins in the process of the benchmark. The first overview connects to every server; " +
        "in brackets is what was observed within its five seconds. A connection closes after five minutes without use."
      ]
    }
    return section
  })
