import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { planContainers } from "../../../src/pipelines/deploy/plan.ts"
import { rollback } from "../../../src/pipelines/releases/rollback.ts"
import { hasPlannedChanges } from "../../../src/schema/deploys.ts"
import { docker, lines, testLabel } from "../../fixtures/docker/docker.ts"
import { berth, onServer, project, realServer } from "../../fixtures/docker/realProject.ts"
import { patience } from "../../fixtures/patience.ts"

const put = (directory: string, files: Readonly<Record<string, string>>) =>
  Effect.sync(() => {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, name)), { recursive: true })
      writeFileSync(join(directory, name), content)
    }
  })

const busybox = ["/bin/busybox", "/usr/bin/busybox"].find(existsSync) ?? ""
const dockerfile = (image: string, more: ReadonlyArray<string> = []) =>
  [
    "FROM scratch",
    `LABEL ${testLabel}=${image}`,
    "ARG GREETING=none",
    "COPY busybox /bin/busybox",
    "COPY page /www/index.html",
    "LABEL greeting=$GREETING",
    ...more,
    "CMD [\"/bin/busybox\", \"httpd\", \"-f\", \"-p\", \"8080\", \"-h\", \"/www\"]",
    ""
  ].join("\n")

const title = realServer.title("images that a real server builds of its compose file")

describe.skipIf(!realServer.available)(title, { timeout: 240_000 * patience }, () => {
  it.scopedLive("are built anew where their files or sections change, and stay for a rollback", () =>
    Effect.gen(function*() {
      const { server, user } = yield* onServer(true)
      const { answer, directory, image, name, port } = yield* project
      const remotePath = `~/containers/${name}`
      const place = { serverId: server.id, remotePath }
      const request = { ...place, projectPath: directory }
      const idOf = (service: string) => docker("ps", "-aq", "--no-trunc", "--filter", `name=${name}[-_]${service}`)
      const imageOf = (id: string) => docker("inspect", "--format", "{{.Image}}", id)
      const namesOf = (id: string) =>
        Effect.map(docker("image", "inspect", "--format", "{{range .RepoTags}}{{println .}}{{end}}", id), lines)
      const service = (context: string, more = "") =>
        `    build: { context: ${context}, args: { GREETING: "\${GREETING}" } }\n    stop_signal: SIGKILL\n${more}`
      yield* put(directory, {
        "compose.yml": `version: "3.8"\nservices:\n  web:\n    image: ${image}\n${
          service("./web", "    ports: [\"127.0.0.1:${HOST_PORT}:8080\"]\n")
        }  other:\n    build: { context: ., dockerfile: other.Dockerfile }\n    stop_signal: SIGKILL\n`,
        ".env": `HOST_PORT=${port}\nGREETING=hello\n`,
        "container.json": JSON.stringify({
          files: ["web", "lib", "page", "busybox", "other.Dockerfile", ".dockerignore"]
        }),
        "web/Dockerfile": dockerfile(image),
        "web/page": "one",
        "other.Dockerfile": dockerfile(image, ["COPY . /all"]),
        ".dockerignore": ".env\nweb\n",
        "lib/a": "one",
        "lib/old": "",
        page: "other"
      })
      for (const context of ["web", "."]) copyFileSync(busybox, join(directory, context, "busybox"))
      yield* Effect.gen(function*() {
        const first = yield* planContainers(request)
        expect(first).toMatchObject({ obstacles: [], warnings: [] })
        expect(first.images.map(({ buildReason, change }) => [change, buildReason])).toEqual([
          ["new", "it is not there yet"],
          ["new", "it is not there yet"]
        ])
        expect(yield* deploy(request)).toMatchObject({ success: true, healthy: true })
        expect(yield* answer).toBe("one")
        expect(hasPlannedChanges(yield* planContainers(request))).toBe(false)
        const [web, other] = [yield* idOf("web"), yield* idOf("other")]
        const before = yield* imageOf(web)

        // As a version of Berth has noted it that did not bring what the server builds.
        const note = join(user.home, "containers", name, ".berth/releases/1/note")
        writeFileSync(note, readFileSync(note, "utf8").replaceAll("\tbrought\n", "\tfound\n"))
        for (const each of yield* namesOf(before)) if (each.startsWith("berth/release:")) yield* docker("rmi", each)

        yield* put(directory, { "web/page": "two" })
        const plan = yield* planContainers(request)
        expect(plan.images).toMatchObject([
          { name: image, change: "changed", buildReason: "web/page changed" },
          { change: "same" }
        ])
        expect(plan.services).toEqual([{ name: "web", change: "recreate" }, { name: "other", change: "keep" }])
        expect((yield* deploy({ ...request, planHash: plan.planHash })).message).toContain("Built anew there: web.")
        expect(yield* answer).toBe("two")
        expect(yield* idOf("other")).toBe(other)
        expect(hasPlannedChanges(yield* planContainers(request))).toBe(false)

        // The image of the release before has a name of Berth's, which cleaning up leaves alone.
        const names = lines(
          yield* docker("image", "inspect", "--format", "{{range .RepoTags}}{{println .}}{{end}}", before)
        )
        expect(names).toEqual([expect.stringMatching(/^berth\/release:/)])
        yield* rollback(place)
        expect(yield* answer).toBe("one")
        expect(yield* imageOf(yield* idOf("web"))).toBe(before)
        expect(yield* planContainers(request)).toMatchObject({ images: [{ buildReason: "web/page changed" }, {}] })
        yield* deploy(request)
        expect(yield* answer).toBe("two")

        // Neither data nor releases nor a file that is gone here get into an image.
        yield* Effect.sync(() => {
          mkdirSync(join(user.home, "containers", name, "data"), { mode: 0 })
          rmSync(join(directory, "lib/old"))
        })
        yield* put(directory, { "lib/a": "two" })
        expect((yield* planContainers(request)).images).toMatchObject([
          { change: "same" },
          { buildReason: "lib/a changed" }
        ])
        yield* deploy(request)
        const listed = yield* docker("exec", yield* idOf("other"), "/bin/busybox", "ls", "-A", "/all", "/all/lib")
        expect(lines(listed)).toEqual(
          ["/all:", ".dockerignore", "busybox", "compose.yml", "lib", "other.Dockerfile", "page", "/all/lib:", "a"]
        )

        // A build that fails leaves what runs, and is tried again.
        const running = yield* idOf("web")
        yield* put(directory, { "web/Dockerfile": dockerfile(image, ["COPY missing /missing"]), "web/page": "three" })
        const failed = yield* Effect.flip(deploy(request))
        expect(failed.message).toMatch(
          /^Deploy failed at build: [^]*missing[^]*\. The previous version is still running$/
        )
        expect([yield* idOf("web"), yield* answer]).toEqual([running, "two"])
        expect(readFileSync(join(user.home, "containers", name, "web/page"), "utf8")).toBe("two")
        yield* put(directory, { "web/Dockerfile": dockerfile(image), ".env": `HOST_PORT=${port}\nGREETING=bye\n` })
        expect((yield* planContainers(request)).images).toMatchObject([{ buildReason: "web/page changed" }, {}])
        yield* deploy(request)
        expect(yield* answer).toBe("three")
        yield* put(directory, { ".env": `HOST_PORT=${port}\nGREETING=again\n` })
        expect((yield* planContainers(request)).images).toMatchObject([
          { buildReason: "what it is built from changed" },
          { change: "same" }
        ])
        yield* deploy(request)
        const label = yield* docker("inspect", "--format", "{{.Config.Labels.greeting}}", yield* idOf("web"))
        expect(label).toBe("again")
        const built = Effect.map(
          docker("image", "ls", "-q", "--no-trunc", "--filter", `label=${testLabel}=${image}`),
          (ids) => [...new Set(lines(ids))]
        )
        const kept = yield* built
        expect(kept).toContain(before)

        // An image that was built for a start that failed goes with the next deploy.
        const compose = readFileSync(join(directory, "compose.yml"), "utf8")
        yield* put(directory, {
          "compose.yml": `${compose}  zz:\n    image: ${image}\n    volumes: ["/dev/null:/www"]\n`,
          "web/page": "four"
        })
        expect((yield* Effect.flip(deploy(request))).message).toMatch(/The previous version is running again$/)
        expect(yield* answer).toBe("three")
        yield* put(directory, { "compose.yml": compose, "web/page": "three" })
        yield* deploy(request)
        expect(kept).toEqual(expect.arrayContaining(yield* built))
      }).pipe(Effect.provide(berth(server)))
    }))
})
