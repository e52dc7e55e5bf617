import { FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted, type Scope } from "effect"
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { type LayerFiles, makeImageArchive } from "../../../src/sandbox/projects.ts"
import { makeSshServer } from "../../../src/sandbox/sshServer.ts"
import { makeStandIns } from "../../../src/sandbox/world.ts"
import { eventually } from "../eventually.ts"
import { connect, exec } from "../sshClient.ts"

const scoped = <A, E>(effect: Effect.Effect<A, E, FileSystem.FileSystem | Scope.Scope>) =>
  Effect.provide(Effect.scoped(effect), NodeFileSystem.layer)

const busybox = ["/bin/busybox", "/usr/bin/busybox"].find((path) => existsSync(path))
const applets = [
  "sh",
  "awk",
  "sed",
  "tar",
  "gzip",
  "od",
  "tr",
  "head",
  "tail",
  "sort",
  "cut",
  "wc",
  "cksum",
  "sha256sum"
]

/** A server with the stand-ins; `busy` has it work with busybox's programs alone. */
const start = (busy = false) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const home = yield* files.makeTempDirectoryScoped({ prefix: "berth-standins-" })
    const standIns = yield* makeStandIns({ sudoPassword: Redacted.make("sandbox password") })
    const path = [standIns.bin]
    if (busy) {
      const directory = yield* files.makeTempDirectoryScoped()
      yield* Effect.forEach(applets, (name) => files.symlink(busybox ?? "", `${directory}/${name}`))
      path.push(directory)
      // Its first line would have the machine's sh run it.
      const script = yield* files.readFileString(`${standIns.bin}/docker`)
      yield* files.writeFileString(`${standIns.bin}/docker`, script.replace("#!/bin/sh", `#!${busybox} sh`))
    }
    const server = yield* makeSshServer({ home, password: Redacted.make("x"), path, env: standIns.env })
    const client = yield* connect(server)
    const run = (command: string, stdin: Buffer | string = "") =>
      Effect.map(exec(client, command, stdin), ({ code, stderr, stdout }) => ({
        code,
        out: stdout.toString("utf8"),
        err: stderr.toString("utf8")
      }))
    const load = (archive: Uint8Array) => run("docker load", Buffer.from(archive))
    const write = (name: string, content: string) => files.writeFileString(`${home}/${name}`, content)
    return { home, standIns, run, load, write }
  })

const archive = (name: string, ...layers: ReadonlyArray<LayerFiles>) =>
  makeImageArchive({ name, layers: layers.length === 0 ? [{ hello: name }] : layers })

const stack = (image = "hello:1", more = "") =>
  `services:\n  web:\n    image: ${image}\n    container_name: hello\n    ports: ["\${PORT:-8080}:80"]\n${more}`

const state = "docker inspect --type container --format '{{.State.Status}} {{.State.ExitCode}} {{.Config.Image}}' hello"

describe("sudo", () => {
  const askpass =
    `printf '#!/bin/sh\\necho "$ANSWER"\\n' >askpass; chmod +x askpass; export SUDO_ASKPASS="$PWD/askpass"; `

  it.live("asks its askpass program for the sandbox's password", () =>
    scoped(Effect.gen(function*() {
      const { run } = yield* start()
      expect((yield* run("id -u")).out).toBe("1000\n")
      const right = yield* run(`${askpass} ANSWER='sandbox password' sudo -A id -u`)
      expect(right).toEqual({ code: 0, out: "0\n", err: "" })
      const wrong = yield* run(`${askpass} ANSWER=wrong sudo -A id -u`)
      expect(wrong).toMatchObject({ code: 1, out: "" })
      expect(wrong.err).toContain("incorrect password attempt")
      expect((yield* run("sudo -n true")).err).toContain("a password is required")
      expect((yield* run("sudo true")).err).toContain("a terminal is required")
    })))

  it.live("hands its input on untouched, and the caller's environment not at all", () =>
    scoped(Effect.gen(function*() {
      const { run } = yield* start()
      const said = yield* run(
        `${askpass} SECRET=s3 ANSWER='sandbox password' sudo -A sh -c 'cat; echo "[$SECRET$ANSWER]"'`,
        "in\n"
      )
      expect(said.out).toBe("in\n[]\n")
    })))

  it.live("asks for nothing where it is set up so, and knows its limits", () =>
    scoped(Effect.gen(function*() {
      const { run, standIns } = yield* start()
      yield* standIns.setFlaw("sudo-nopasswd", true)
      expect((yield* run("sudo -n id -un")).out).toBe("root\n")
      yield* standIns.setFlaw("sudo-nopasswd", false)
      expect((yield* run("sudo -n true")).code).toBe(1)
      expect(yield* run("sudo --list")).toMatchObject({ code: 125, err: expect.stringContaining("stand-in") })
    })))
})

describe("what a server may lack", () => {
  it.live("flock's stand-in locks as flock does", () =>
    scoped(Effect.gen(function*() {
      const { home, run } = yield* start()
      const flock = new URL("../../../src/sandbox/stand-ins/missing/flock", import.meta.url).pathname
      const held = "exec 9>>lock; flock -n 9; echo $?"
      expect((yield* run(`exec 8>>lock; sh '${flock}' -n 8 || exit 1; (${held}); : >${home}/done`)).out).toBe("1\n")
      expect((yield* run(held)).out).toBe("0\n")
      expect((yield* run(`exec 8>>lock; sh '${flock}' -w 1 8 && echo mine`)).out).toBe("mine\n")
      expect((yield* run(`exec 8>>lock; flock 8; (exec 7>>lock; sh '${flock}' -n 7); echo $?`)).out).toBe("1\n")
    })))

  it.live("sha256sum's stand-in says what sha256sum says", () =>
    scoped(Effect.gen(function*() {
      const { run } = yield* start()
      const script = new URL("../../../src/sandbox/stand-ins/missing/sha256sum", import.meta.url).pathname
      const hash = createHash("sha256").update("text").digest("hex")
      expect((yield* run(`printf text >file; sh '${script}' file; sh '${script}' <file`)).out).toBe(
        `${hash}  file\n${hash}  -\n`
      )
    })))

  it.live("stat's stand-in says sizes and names", () =>
    scoped(Effect.gen(function*() {
      const { run } = yield* start()
      const script = new URL("../../../src/sandbox/stand-ins/missing/stat", import.meta.url).pathname
      for (const format of ["%s", "s %s %n"]) {
        const real = yield* run(`printf text >file; stat -c '${format}' file`)
        expect(yield* run(`sh '${script}' -c '${format}' file`)).toEqual(real)
      }
      expect((yield* run(`sh '${script}' -c %s nothing`)).code).toBe(1)
      expect((yield* run(`sh '${script}' -c %Y file`)).code).toBe(125)
    })))
})

describe("docker load", () => {
  it.live("takes either layout of docker save, by the image id that Docker gives it", () =>
    scoped(Effect.gen(function*() {
      const { load, run } = yield* start()
      const layers = [{ a: "1" }, { b: "2" }]
      expect(yield* load(makeImageArchive({ name: "one:1", layers, layout: "classic" }))).toMatchObject({
        code: 0,
        out: "Loaded image: one:1\n"
      })
      expect((yield* load(makeImageArchive({ name: "two:1", layers }))).code).toBe(0)
      const [one, two] = (yield* run("docker image inspect --format '{{.Id}}' one:1 two:1")).out.split("\n")
      expect(one).toMatch(/^sha256:[0-9a-f]{64}$/)
      expect(one).toBe(two)
      const chain = yield* run("docker image inspect --format '{{range .RootFS.Layers}}{{.}} {{end}}' one:1")
      expect(chain.out.trim().split(" ")).toHaveLength(2)
      expect(JSON.parse((yield* run("docker image inspect one:1")).out)).toMatchObject([{ Id: one }])
    })))

  it.live("takes a gzipped archive too", () =>
    scoped(Effect.gen(function*() {
      const { run } = yield* start()
      expect((yield* run("gzip | docker load", Buffer.from(archive("hello:1")))).out).toBe("Loaded image: hello:1\n")
    })))

  it.live("says in words what is wrong with an archive, and loads nothing", () =>
    scoped(Effect.gen(function*() {
      const { load, run } = yield* start()
      const whole = Buffer.from(archive("hello:1", { big: "x".repeat(50_000) }))
      expect(yield* load(whole.subarray(0, 20_000))).toMatchObject({
        code: 1,
        err: expect.stringContaining("unexpected EOF")
      })
      expect(yield* load(Buffer.from("no archive at all"))).toMatchObject({ code: 1, err: expect.stringMatching(/./) })
      const bent = Buffer.from(whole)
      bent.write("y", bent.indexOf("x".repeat(100)) + 50)
      expect(yield* load(bent)).toMatchObject({ code: 1, err: expect.stringContaining("invalid diffID for layer 0") })
      expect((yield* run("docker image inspect hello:1")).code).toBe(1)
      expect((yield* run("docker images")).out).toBe("")
    })))

  it.live("does without a layer that it has, and only then", () =>
    scoped(Effect.gen(function*() {
      const { load, run } = yield* start()
      const base = { base: "b".repeat(3_000) }
      yield* load(archive("hello:1", base, { top: "1" }))
      // The archive of the next version without the layer at the bottom.
      const next = Buffer.from(archive("hello:2", base, { top: "2" }))
      const without = "rm -rf x; mkdir x; tar -xf - -C x; ls -S x/blobs/sha256 | head -n 1 | " +
        "while read -r big; do rm \"x/blobs/sha256/$big\"; done; tar -cf - -C x . | docker load"
      expect(yield* run(without, next)).toMatchObject({ code: 0, out: "Loaded image: hello:2\n" })
      const stranger = Buffer.from(archive("hello:3", { base: "c".repeat(3_000) }, { top: "2" }))
      expect(yield* run(without, stranger)).toMatchObject({ code: 1, err: expect.stringContaining("no such file") })
    })))

  it.live("moves a name that is loaded again", () =>
    scoped(Effect.gen(function*() {
      const { load, run } = yield* start()
      yield* load(archive("hello:1", { a: "1" }))
      const before = (yield* run("docker image inspect --format '{{.Id}}' hello:1")).out.trim()
      expect((yield* load(archive("hello:1", { a: "2" }))).out).toContain(`renaming the old one with ID ${before}`)
      expect((yield* run("docker image inspect --format '{{.Id}}' hello:1")).out.trim()).not.toBe(before)
      expect((yield* run(`docker tag ${before} hello:1 && docker image inspect --format '{{.Id}}' hello:1`)).out.trim())
        .toBe(before)
    })))
})

describe("docker rmi and images", () => {
  it.live("list what has lost its name, and keep what a container uses", () =>
    scoped(Effect.gen(function*() {
      const { load, run, write } = yield* start()
      yield* load(archive("hello:1", { a: "1" }))
      yield* load(archive("hello:1", { a: "2" }))
      expect((yield* run("docker images --format '{{.Repository}}:{{.Tag}}'")).out).toBe("hello:1\n<none>:<none>\n")
      expect((yield* run("docker image ls -q --no-trunc")).out).toMatch(/^(sha256:[0-9a-f]{64}\n){2}$/)
      expect((yield* run("docker images -q")).out).toMatch(/^([0-9a-f]{12}\n){2}$/)
      yield* write("compose.yml", stack())
      yield* run("docker compose up -d")
      expect(yield* run("docker rmi hello:1")).toMatchObject({ code: 1, err: expect.stringContaining("is using its") })
      yield* run("docker tag hello:1 hello:2")
      expect((yield* run("docker rmi hello:1")).out).toBe("Untagged: hello:1\n")
      yield* run("docker compose down")
      expect((yield* run("docker rmi hello:2")).out).toMatch(/^Untagged: hello:2\nDeleted: sha256:/)
    })))
})

const wholeFlow = (busy: boolean) =>
  scoped(Effect.gen(function*() {
    const { load, run, standIns, write } = yield* start(busy)
    expect((yield* run("docker compose version --short")).out).toMatch(/^\d+\.\d+\.\d+\n$/)
    yield* load(archive("hello:1"))
    yield* write("compose.yml", stack("hello:${TAG}", "    healthcheck: {test: [CMD, curl, -f, localhost]}\n"))
    yield* write(".env", "PORT=2010\nTAG='1'\n")
    const up = yield* run("docker compose -f compose.yml up -d")
    expect(up).toMatchObject({ code: 0, err: expect.stringContaining("Container hello  Started") })
    const ps = "docker ps --format '{{.Names}}\\t{{.Status}}\\t{{.Ports}}'"
    expect((yield* run(ps)).out).toMatch(/^hello\tUp .*\t0\.0\.0\.0:2010->80\/tcp, \[::\]:2010->80\/tcp\n$/)
    yield* eventually(Effect.map(run(ps), ({ out }) => out.includes("(healthy)")))
    const id = (yield* run("docker compose ps -aq")).out.trim()
    expect(id).toMatch(/^[0-9a-f]{64}$/)
    const json = yield* run(`docker inspect --format '{{json .State}}' ${id}`)
    expect(JSON.parse(json.out)).toMatchObject({ Status: "running", ExitCode: 0, Health: { Status: "healthy" } })
    expect((yield* run("docker inspect --type container --format '{{.Id}}' hello")).out.trim()).toBe(id)
    const label = "docker inspect --format '{{.Name}} {{index .Config.Labels \"com.docker.compose.service\"}}' hello"
    expect((yield* run(label)).out).toBe("/hello web\n")
    const inDirectory = (path: string) =>
      `docker ps -a --no-trunc --filter label=com.docker.compose.project.working_dir="${path}" ` +
      "--format '{{.ID}} {{.Label \"com.docker.compose.service\"}}'"
    expect((yield* run(inDirectory("$(pwd -P)"))).out).toBe(`${id} web\n`)
    expect((yield* run(inDirectory("$(pwd -P)/other"))).out).toBe("")

    const lines = (yield* run("docker logs --tail 2 hello")).out.trim().split("\n")
    expect(lines).toHaveLength(2)
    expect((yield* run("docker compose logs --no-color --timestamps --tail 1")).out).toMatch(
      /^hello {2}\| \d{4}-\d\d-\d\dT[\d:.]+Z hello: /
    )

    yield* run("docker compose up -d")
    expect((yield* run("docker compose ps -q")).out.trim()).toBe(id)
    expect((yield* run("docker compose down && docker ps -aq")).out).toBe("")
    const calls = yield* standIns.dockerCalls
    expect(calls.slice(0, 2)).toEqual([
      { root: false, args: ["compose", "version", "--short"] },
      { root: false, args: ["load"] }
    ])
  }))

describe("docker compose", () => {
  it.live("starts a stack that then runs, is healthy, has logs, and goes", () => wholeFlow(false))

  it.live.skipIf(busybox === undefined)("does so with busybox's programs too", () => wholeFlow(true))

  it.live("does not start what it has no image for, and says so", () =>
    scoped(Effect.gen(function*() {
      const { run, write } = yield* start()
      yield* write("compose.yml", stack("nothing:1"))
      expect(yield* run("docker compose up -d")).toMatchObject({
        code: 1,
        err: expect.stringContaining("pull access denied for nothing")
      })
      expect((yield* run("docker ps -aq")).out).toBe("")
    })))

  it.live("makes a container anew when its image or its part of the file changed", () =>
    scoped(Effect.gen(function*() {
      const { load, run, write } = yield* start()
      yield* write("compose.yml", stack())
      yield* load(archive("hello:1", { a: "1" }))
      yield* run("docker compose up -d")
      const first = (yield* run("docker compose ps -q")).out
      yield* load(archive("hello:1", { a: "2" }))
      expect((yield* run("docker compose up -d")).err).toContain("Recreate")
      const second = (yield* run("docker compose ps -q")).out
      expect(second).not.toBe(first)
      yield* write("compose.yml", stack("hello:1", "    restart: always\n"))
      yield* run("docker compose up -d")
      expect((yield* run("docker compose ps -q")).out).not.toBe(second)
    })))

  it.live("ends a one-shot service with its exit code, and starts one again that should stay", () =>
    scoped(Effect.gen(function*() {
      const { load, run, write } = yield* start()
      yield* load(archive("hello:1"))
      const status = (more: string) =>
        Effect.gen(function*() {
          yield* write("compose.yml", stack("hello:1", more))
          yield* run("docker compose up -d")
          return (yield* run(state)).out.trim()
        })
      expect(yield* status("    command: [\"true\"]\n")).toBe("exited 0 hello:1")
      expect(yield* status("    command: sh -c \"exit 3\"\n")).toBe("exited 3 hello:1")
      expect(yield* status("    command: \"false\"\n    restart: always\n")).toBe("restarting 1 hello:1")
      expect((yield* run("docker ps")).out).toContain("Restarting (1)")
      expect(yield* status("    command: serve\n")).toBe("running 0 hello:1")
    })))

  it.live("finds a failing health check unhealthy", () =>
    scoped(Effect.gen(function*() {
      const { load, run, write } = yield* start()
      yield* load(archive("hello:1"))
      yield* write("compose.yml", stack("hello:1", "    healthcheck:\n      test: [\"CMD\", \"false\"]\n"))
      yield* run("docker compose up -d")
      yield* eventually(Effect.map(run("docker ps"), ({ out }) => out.includes("(unhealthy)")))
    })))

  it.live("gives a port and a name to one container only", () =>
    scoped(Effect.gen(function*() {
      const { load, run, write } = yield* start()
      yield* load(archive("hello:1"))
      yield* run("mkdir one two three")
      yield* write("one/compose.yml", stack())
      yield* write("two/compose.yml", stack().replace("container_name: hello", "container_name: other"))
      yield* write("three/compose.yml", stack())
      expect((yield* run("cd one && docker compose up -d")).code).toBe(0)
      expect(yield* run("cd two && docker compose up -d")).toMatchObject({
        code: 1,
        err: expect.stringContaining("Bind for 0.0.0.0:8080 failed: port is already allocated")
      })
      expect(yield* run("cd three && docker compose up -d")).toMatchObject({
        code: 1,
        err: expect.stringContaining("The container name \"/hello\" is already in use")
      })
      expect((yield* run(state)).out).toBe("running 0 hello:1\n")
    })))

  it.live("reads compose files as they are usually written", () =>
    scoped(Effect.gen(function*() {
      const { run, write } = yield* start()
      yield* write(
        "compose.yml",
        [
          "# a comment",
          "name: Shop",
          "services:",
          "  \"web\":",
          "    image: \"${REPO:-shop}/web:$TAG\" # trailing",
          "    command: >-",
          "      serve",
          "      --all",
          "    ports:",
          "    - target: 80",
          "      published: 8080",
          "    environment: {A: b, C: 'd, e'}",
          "  job:",
          "    image: shop/job",
          "    profiles: [tools]",
          "volumes:",
          "  data:",
          ""
        ].join("\r\n")
      )
      yield* write(".env", "TAG=7\n")
      expect(yield* run("docker compose config --images")).toEqual({ code: 0, out: "shop/web:7\n", err: "" })
      expect((yield* run("TAG=8 docker compose config --images")).out).toBe("shop/web:8\n")
      expect((yield* run("docker compose config --services")).out).toBe("web\n")
    })))

  it.live("says what is wrong with a compose file, and what it does not know", () =>
    scoped(Effect.gen(function*() {
      const { run, write } = yield* start()
      const up = (text: string) => Effect.zipRight(write("compose.yml", text), run("docker compose up -d"))
      expect((yield* run("docker compose up -d")).err).toContain("no configuration file provided")
      expect(yield* up("services:\n  web:\n    image: \"a\n")).toMatchObject({
        code: 15,
        err: expect.stringContaining("line 3")
      })
      expect(yield* up("services:\n  web:\n    image: a\n   ports: []\n")).toMatchObject({ code: 15 })
      expect((yield* up("services:\n  web:\n    image: ${A:?give A}\n")).err).toContain("give A")
      expect((yield* up("services:\n  web:\n    restart: always\n")).err).toContain("neither an image nor a build")
      expect((yield* up("services:\n  web:\n    image: a\n    env_file: nope\n")).err).toContain("nope not found")
      expect(yield* up("x: &y 1\nservices:\n  web: *y\n")).toMatchObject({
        code: 125,
        err: expect.stringContaining("stand-in")
      })
      expect((yield* up("volumes: {}\n")).err).toContain("no service selected")
    })))
})

describe("docker", () => {
  it.live("is down, for root only, or without compose, where it is set up so", () =>
    scoped(Effect.gen(function*() {
      const { run, standIns } = yield* start()
      yield* standIns.setFlaw("docker-is-down", true)
      expect(yield* run("docker ps")).toMatchObject({
        code: 1,
        err: expect.stringContaining("Cannot connect to the Docker daemon")
      })
      yield* standIns.setFlaw("docker-is-down", false)
      yield* standIns.setFlaw("docker-needs-root", true)
      expect(yield* run("docker ps")).toMatchObject({ code: 1, err: expect.stringContaining("permission denied") })
      yield* standIns.setFlaw("sudo-nopasswd", true)
      expect((yield* run("sudo -n docker ps -q")).code).toBe(0)
      expect((yield* standIns.dockerCalls).map(({ root }) => root)).toEqual([false, false, true])
      yield* standIns.setFlaw("docker-needs-root", false)
      yield* standIns.setFlaw("docker-without-compose", true)
      expect(yield* run("docker compose version")).toMatchObject({
        code: 1,
        err: expect.stringContaining("not a docker command")
      })
      expect((yield* run("docker-compose version")).code).toBe(127)
    })))

  it.live("says its version and its storage as it is told", () =>
    scoped(Effect.gen(function*() {
      const { run, standIns } = yield* start()
      yield* standIns.setDockerVersion("20.10.24")
      yield* standIns.setStorageDriver("overlayfs")
      expect((yield* run("docker info --format '{{.ServerVersion}}|{{.Driver}}'")).out).toBe("20.10.24|overlayfs\n")
      expect((yield* run("docker version --format '{{.Server.Version}}'")).out).toBe("20.10.24\n")
      expect((yield* run("docker version")).out).toContain("stand-in")
    })))

  it.live("says that it does not understand what it does not understand", () =>
    scoped(Effect.gen(function*() {
      const { load, run } = yield* start()
      yield* load(archive("hello:1"))
      for (
        const command of ["run hello:1", "ps --wat", "image inspect --format '{{.Nope}}' hello:1", "compose watch"]
      ) {
        expect(yield* run(`docker ${command}`)).toMatchObject({
          code: 125,
          err: expect.stringContaining("docker stand-in")
        })
      }
      expect(yield* run("docker logs nobody")).toMatchObject({
        code: 1,
        err: expect.stringContaining("No such container: nobody")
      })
    })))

  it.live("keeps containers by name and id through rename, stop, start and rm", () =>
    scoped(Effect.gen(function*() {
      const { load, run, write } = yield* start()
      yield* load(archive("hello:1"))
      yield* write("compose.yml", stack())
      yield* run("docker compose up -d")
      expect((yield* run("docker rename hello old && docker stop old")).code).toBe(0)
      expect((yield* run("docker ps -q; docker ps -a --format '{{.Names}} {{.State}}'")).out).toBe("old exited\n")
      expect((yield* run("docker start old && docker ps --format '{{.Names}}'")).out).toBe("old\nold\n")
      expect((yield* run("docker rm -f old && docker ps -aq")).out).toBe("old\n")
      expect((yield* run("docker rm old")).code).toBe(1)
    })))
})
