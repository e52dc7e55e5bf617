import { Effect } from "effect"
import type { Scope } from "effect"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { buildImage, saveImage } from "../../test/fixtures/docker/docker.ts"
import { followingProxy, type LoadReport, requestsTo } from "../../test/fixtures/docker/followingProxy.ts"
import { freePort } from "../../test/fixtures/network/freePort.ts"
import { type InProcess, inProcess, timedDeploy } from "../inProcess.ts"
import { load, median, millis, seconds } from "../numbers.ts"
import type { Remote } from "../remote.ts"
import type { Section } from "../report.ts"
import { shell } from "../shell.ts"
import { compose } from "../stage.ts"

const name = "berth-bench-rollout"
const host = "app.example.com"
const perSecond = 200
// Traefik's own throttle, and the default of proxy.settle.
const throttleMillis = 2_000
const settle = "5 seconds"

const versions = ["one", "two"] as const
type Version = typeof versions[number]

const composeText = (port: number) =>
  `version: "3.8"
services:
  web:
    image: ${name}:latest
    stop_signal: SIGKILL
    ports: ["127.0.0.1:${port}:8080"]
`

const proxyText = (port: number) =>
  `http:
  routers:
    app:
      rule: "Host(\`${host}\`)"
      service: app
  services:
    app:
      loadBalancer:
        servers:
          - url: "http://127.0.0.1:${port}"
`

// An application that listens a second after its start, and says so.
const listensLate = {
  command: ["/bin/sh", "-c", "/bin/busybox sleep 1; exec /bin/busybox httpd -f -p 8080 -h /www"],
  healthcheck:
    "HEALTHCHECK --interval=1s --retries=30 CMD [\"/bin/busybox\", \"wget\", \"-q\", \"-O\", \"/dev/null\", \"http://127.0.0.1:8080/\"]"
}

/** Two versions of a project, each in a directory of its own with its archive. */
const makeProjects = (directory: string, port: number) =>
  Effect.gen(function*() {
    const place = (version: Version) => join(directory, version, name)
    for (const version of versions) {
      yield* Effect.promise(() => mkdir(place(version), { recursive: true }))
      yield* Effect.promise(() => writeFile(join(place(version), "compose.yml"), composeText(port)))
      yield* buildImage(`${name}:latest`, version, listensLate)
      yield* saveImage(`${name}:latest`, join(place(version), `${name}.tar`))
    }
    return place
  })

interface Sample extends LoadReport {
  readonly took: number
}

/** Deploys the second version under load in one of several ways, each time after the first version. */
const contestants = (
  berth: InProcess,
  { env, home }: Remote,
  projects: (version: Version) => string
): ReadonlyArray<readonly [name: string, isBridged: boolean, roll: Effect.Effect<unknown>]> => {
  const request = (version: Version) => ({
    projectPath: projects(version),
    serverId: "near",
    remotePath: `~/containers/${name}`
  })
  const deploy = Effect.promise(() => timedDeploy(berth, request("two")))
  const plain = Effect.promise(async () => {
    await shell("docker load -q -i \"$1\" >/dev/null", [join(projects("two"), `${name}.tar`)], { env })
    await shell(`compose() { ${compose}; }; cd "$1"; compose up -d >/dev/null 2>&1`, [
      join(home, "containers", name)
    ], { env })
  })
  return [
    ["`docker load`, `compose up -d`", false, plain],
    ["Berth", false, deploy],
    ["Berth, `bridged`", true, deploy]
  ]
}

/** Requests that fail while a version is deployed in the place of another one. */
export const rollouts = (
  directory: string,
  remote: Remote,
  rounds: number
): Effect.Effect<{ readonly failed: number; readonly section: Section }, unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const port = yield* freePort
    const own = join(directory, "rollout")
    const projects = yield* makeProjects(own, port)
    const file = join(own, "proxy.yml")
    yield* Effect.promise(() => writeFile(file, proxyText(port)))
    const berth = yield* inProcess(own, {
      proxy: { configFile: file, settle },
      deploy: { healthTimeout: "30 seconds", healthInterval: "500 millis" },
      servers: [{
        id: "near",
        name: "near",
        host: "127.0.0.1",
        port: remote.port,
        username: remote.user,
        privateKey: remote.key,
        useSudo: false
      }]
    })
    const proxy = yield* followingProxy(file, throttleMillis)
    const all = contestants(berth, remote, projects)
    const configure = (isBridged: boolean) =>
      Effect.promise(() =>
        writeFile(join(projects("two"), "container.json"), JSON.stringify(isBridged ? { bridged: ["web"] } : {}))
      )
    const first = Effect.promise(() =>
      timedDeploy(berth, { projectPath: projects("one"), serverId: "near", remotePath: `~/containers/${name}` })
    )
    const measured = (roll: Effect.Effect<unknown>) =>
      Effect.gen(function*() {
        const requests = yield* requestsTo(proxy.port, host, perSecond)
        yield* Effect.sleep("2 seconds")
        const began = performance.now()
        yield* roll
        const took = performance.now() - began
        yield* Effect.sleep("4 seconds")
        return { ...(yield* requests.report), took } satisfies Sample
      }).pipe(Effect.scoped)
    const samples = new Map<string, Array<Sample>>()
    for (let round = 0; round < rounds; round++) {
      for (const [title, isBridged, roll] of all) {
        yield* configure(isBridged)
        yield* first
        samples.set(title, [...samples.get(title) ?? [], yield* measured(roll)])
      }
    }
    const middle = (title: string, of: (sample: Sample) => number) => median((samples.get(title) ?? []).map(of))
    const failed = ({ failed }: Sample) => failed.length
    const rows = all.map(([title]) => [
      title,
      String(middle(title, failed)),
      String(middle(title, ({ sent }) => sent)),
      millis(middle(title, ({ slowestMillis }) => slowestMillis)),
      seconds(middle(title, ({ took }) => took))
    ])
    const bridged = samples.get(all.at(-1)?.[0] ?? "") ?? []
    const note = `An application that listens a second after its start, behind a proxy that reads its file every ` +
      `${throttleMillis / 1_000} s. \`proxy.settle\` is ${settle}. ${load()}`
    return {
      failed: Math.max(...bridged.map(failed)),
      section: {
        title: `Redeploy under ${perSecond} requests a second`,
        columns: ["who", "requests failed", "of", "slowest request", "it took"],
        rows,
        notes: [note]
      }
    }
  })
