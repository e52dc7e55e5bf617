import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { copyFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { spawnBerth } from "../fixtures/berthProcess.ts"
import { compiled } from "../fixtures/compiled.ts"
import { docker, lines, testLabel, uniqueName } from "../fixtures/docker/docker.ts"
import { realServer } from "../fixtures/docker/realProject.ts"
import { startSshd } from "../fixtures/network/openssh.ts"
import { patience } from "../fixtures/patience.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

const title = realServer.title("the first deploy from an empty home directory to a real server")
const busybox = ["/bin/busybox", "/usr/bin/busybox"].find(existsSync) ?? ""
const must = <A>(make: () => Promise<A>) => Effect.promise(make)

const dockerfile = (name: string, what: string) =>
  [
    "FROM scratch",
    "COPY busybox /bin/busybox",
    `LABEL ${testLabel}=${name} what=${what}`,
    "CMD [\"/bin/busybox\", \"sleep\", \"1000000\"]",
    ""
  ].join("\n")

const compose = `services:
  web:
    build: ./web
    stop_signal: SIGKILL
  worker:
    build: { context: worker }
    stop_signal: SIGKILL
`

/** A project of two services with `build:`, and an empty home directory beside it. */
const scene = Effect.gen(function*() {
  const directory = yield* temporaryDirectory
  const name = yield* uniqueName("berth-test")
  const project = join(directory, "home", "projects", name)
  yield* plant(project, {
    "compose.yml": compose,
    "web/Dockerfile": dockerfile(name, "web"),
    "worker/Dockerfile": dockerfile(name, "worker")
  })
  for (const part of ["web", "worker"]) yield* must(() => copyFile(busybox, join(project, part, "busybox")))
  yield* Effect.addFinalizer(() =>
    Effect.ignore(Effect.sandbox(Effect.gen(function*() {
      const containers = lines(yield* docker("ps", "-aq", "--filter", `label=com.docker.compose.project=${name}`))
      if (containers.length > 0) yield* docker("rm", "-fv", ...containers)
      yield* docker("network", "rm", `${name}_default`).pipe(Effect.sandbox, Effect.ignore)
      const images = lines(yield* docker("image", "ls", "-q", "--no-trunc", "--filter", `label=${testLabel}=${name}`))
      if (images.length > 0) yield* docker("image", "rm", "-f", ...new Set(images))
    })))
  )
  return { home: join(directory, "home"), name, project }
})

describe.skipIf(!realServer.available)(title, { timeout: 300_000 * patience }, () => {
  it.scopedLive("takes README's commands, each of which ends as it says", () =>
    Effect.gen(function*() {
      const { home, name, project } = yield* scene
      const sshd = yield* startSshd()
      const user = yield* sshd.makeUser({ groups: ["docker"] })
      const key = yield* user.makeKey()
      const environment = { HOME: home, BERTH_CONFIG: "", BERTH_URL: "", SSH_AUTH_SOCK: "", DOCKER_BUILDKIT: "0" }
      const berth = (...words: ReadonlyArray<string>) =>
        Effect.scoped(Effect.gen(function*() {
          const command = yield* spawnBerth(environment, [compiled("src/cli/berth.ts"), ...words])
          const { code } = yield* command.ended
          return { command: words.slice(0, 2).join(" "), code, output: command.output().replace(/\s+/g, " ") }
        }))
      const address = `${user.name}@${sshd.host}:${sshd.port}`

      // The key of the server's host is unknown: it is shown, and nothing else was tried.
      const tested = yield* berth("server", "test", address)
      expect(tested, tested.output).toMatchObject({ code: 1 })
      const [hostKey = ""] = /SHA256:[\w+/]{43}/.exec(tested.output) ?? []
      expect(hostKey).not.toBe("")

      const added = yield* berth("server", "add", "Main", address, "--key", key, "--host-key", hostKey)
      expect(added, added.output).toMatchObject({ code: 0 })
      const again = yield* berth("server", "test", "Main")
      expect(again, again.output).toMatchObject({ code: 0 })

      const begun = yield* berth("init", project, "--yes")
      expect(begun, begun.output).toMatchObject({ code: 0 })
      expect(existsSync(join(project, "build-image-tar.sh"))).toBe(false)

      const deployed = yield* berth("deploy", project, "--build", "--yes")
      expect(deployed, deployed.output).toMatchObject({ code: 0 })
      const running = lines(
        yield* docker(
          "ps",
          "--filter",
          `label=com.docker.compose.project=${name}`,
          "--format",
          "{{.Label \"com.docker.compose.service\"}}"
        )
      )
      expect([...running].sort()).toEqual(["web", "worker"])

      yield* must(() => writeFile(join(project, "web", "index.html"), "more"))
      const repeated = yield* berth("deploy", project, "--build", "--yes")
      expect(repeated, repeated.output).toMatchObject({ code: 0 })
    }))
})
