import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { chmod, readFile, realpath } from "node:fs/promises"
import { join } from "node:path"
import { parsePreflight, preflightCommand, type PreflightQuestions } from "../../../src/remote/deploy.ts"
import { sha256 } from "../../fixtures/docker/tar.ts"
import { runHere, shells } from "../../layers/RemoteHere.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

const id = (letter: string) => `sha256:${letter.repeat(64)}`

// A docker with two images, of which one has a name; it says on stderr what it was asked.
const docker = (compose: string) =>
  `#!/bin/sh
case "$*" in
  info*) echo '20.10.24|overlay2|[["Backing Filesystem","extfs"]]|/nowhere' ;;
  "compose version --short") ${compose} ;;
  "image ls"*) echo ${id("a")} shop:1; echo ${id("b")} '<none>:<none>'; echo ${id("a")} shop:latest ;;
  *"{{.Id}} shop:latest") echo ${id("a")} ;;
  *"{{.Id}} shop:latest gone") echo "No such image: gone" >&2; echo ${id("a")}; exit 1 ;;
  *"{{.Id}} gone") echo "No such image: gone" >&2; exit 1 ;;
  *"json .RootFS.Layers"*) echo '${id("a")} ["${id("1")}","${id("2")}"]'; echo '${id("b")} null' ;;
  *) echo "unexpected: $*" >&2; exit 9 ;;
esac
`

const looked = (
  shell: (typeof shells)[number],
  questions: Partial<PreflightQuestions> = {},
  compose = "echo 2.32.4",
  dockerCompose?: string
) =>
  Effect.gen(function*() {
    const [home, programs] = [yield* temporaryDirectory, yield* temporaryDirectory]
    const files = { docker: docker(compose), ...dockerCompose === undefined ? {} : { "docker-compose": dockerCompose } }
    yield* plant(programs, files)
    yield* Effect.forEach(Object.keys(files), (name) => Effect.promise(() => chmod(join(programs, name), 0o755)))
    yield* plant(home, {
      "containers/shop/compose.yml": "services: {}\n",
      "containers/shop/it's $(here)": "odd",
      "containers/shop/conf": { directory: true }
    })
    const all = { remotePath: "~/containers/shop", images: [], files: [], layers: false, thorough: false, ...questions }
    const { code, stdout } = yield* runHere(preflightCommand(all, false), { shell, home, programs })
    return { code, facts: parsePreflight(stdout) }
  })

describe.each(shells)("looking at a server in $name", (shell) => {
  it.scoped("tells engine, compose, disks, images, layers and files", () =>
    Effect.gen(function*() {
      const { code, facts } = yield* looked(shell, {
        images: ["shop:latest", "gone", "-x"],
        files: ["compose.yml", "it's $(here)", "conf", "missing"],
        layers: true
      })
      expect(code).toBe(0)
      expect(facts).toMatchObject({
        engine: "20.10.24",
        containerdStore: false,
        composeKind: "v2",
        composeVersion: "2.32.4",
        readOnly: undefined,
        imageIds: new Map([["shop:latest", id("a")]]),
        fileHashes: new Map([["compose.yml", sha256("services: {}\n")], ["it's $(here)", sha256("odd")]]),
        serverImages: [{ id: id("a"), layers: [id("1"), id("2")] }, { id: id("b"), layers: [] }]
      })
      expect(facts.freeKiB).toBeGreaterThan(0)
      expect(facts.freeKiB).toBeLessThan(Number.POSITIVE_INFINITY)
      expect(facts.dockerFreeKiB).toBe(Number.POSITIVE_INFINITY)
    }))

  it.scoped("asks no more than it has to", () =>
    Effect.gen(function*() {
      const { code, facts } = yield* looked(shell, { images: ["shop:latest"] })
      expect(code).toBe(0)
      expect(facts).toMatchObject({ imageIds: new Map([["shop:latest", id("a")]]), serverImages: [] })
      expect(facts.fileHashes.size).toBe(0)
    }))

  it.scoped("lists images again where containerd's store fails since one is being removed", () =>
    Effect.gen(function*() {
      const [home, programs] = [yield* temporaryDirectory, yield* temporaryDirectory]
      const failsTwice = `case "$*" in "image ls"*)
  echo >>"$HOME/listed"
  [ "$(wc -l <"$HOME/listed")" -gt 2 ] || { echo "content digest ${id("c")}: not found" >&2; exit 1; } ;;
esac
`
      yield* plant(programs, { docker: docker("exit 1").replace("\n", `\n${failsTwice}`) })
      yield* Effect.promise(() => chmod(join(programs, "docker"), 0o755))
      const questions = { remotePath: "~/x", images: [], files: [], layers: true, thorough: false }
      const { code, stdout } = yield* runHere(preflightCommand(questions, false), { shell, home, programs })
      expect(code).toBe(0)
      expect(parsePreflight(stdout).serverImages.map((image) => image.id)).toEqual([id("a"), id("b")])
    }))

  it.scoped("inspects images of the directory's releases first, then those of other releases, however old they are", () =>
    Effect.gen(function*() {
      const [home, programs] = [yield* temporaryDirectory, yield* temporaryDirectory]
      yield* plant(home, { "x/compose.yml": "" })
      const digest = createHash("sha256").update(`${yield* Effect.promise(() => realpath(join(home, "x")))}\n`).digest(
        "hex"
      )
      // More releases of other directories than are inspected.
      const nameAt = (at: number) =>
        at === 299 ? `berth/release:${digest.slice(0, 12)}-4567` : at < 20 ? `other:${at}` : `berth/release:0123-${at}`
      const many = Array.from({ length: 300 }, (_, at) => `sha256:${String(at).padStart(64, "0")}`)
      const lines = many.map((image, at) => `${image} ${nameAt(at)}`)
      yield* plant(programs, {
        images: lines.join("\n"),
        docker: `#!/bin/sh
case "$*" in
  info*) echo '20.10.24|overlay2|[]|/nowhere' ;;
  "image ls"*) cat "$(dirname "$0")/images" ;;
  "image inspect"*) shift 4; for id do echo "$id []"; done ;;
  *) exit 1 ;;
esac
`
      })
      yield* Effect.promise(() => chmod(join(programs, "docker"), 0o755))
      const questions = { remotePath: "~/x", images: [], files: [], layers: true, thorough: false }
      const { stdout } = yield* runHere(preflightCommand(questions, false), { shell, home, programs })
      const inspected = parsePreflight(stdout).serverImages.map((image) => image.id)
      expect(inspected).toEqual([many[299], ...many.slice(20, 219)])
    }))

  it.scoped("finds nothing where there is nothing yet", () =>
    Effect.gen(function*() {
      const { code, facts } = yield* looked(shell, { remotePath: "~/new/place", files: ["compose.yml"], layers: true })
      expect(code).toBe(0)
      expect(facts.fileHashes.size).toBe(0)
      expect(facts.serverImages).toHaveLength(2)
    }))

  it.scoped("takes a docker-compose in Python for 1.x, unless that has to show that it runs", () =>
    Effect.gen(function*() {
      const python = "#!/bin/false python3\nimport compose\n"
      const known = yield* looked(shell, {}, "exit 1", python)
      expect(known.facts).toMatchObject({ composeKind: "v1", composeVersion: "1.x" })
      const broken = yield* looked(shell, { thorough: true }, "exit 1", python)
      expect(broken.facts).toMatchObject({ composeKind: "none", composeVersion: "" })
    }))

  it.scoped("runs every other docker-compose for its version", () =>
    Effect.gen(function*() {
      const wrapper = "#!/bin/sh\n# no python\necho 2.32.4\n"
      expect((yield* looked(shell, {}, "exit 1", wrapper)).facts).toMatchObject({
        composeKind: "standalone",
        composeVersion: "2.32.4"
      })
    }))

  it.scoped("asks one thing alone through sudo, which may be refused", () =>
    Effect.gen(function*() {
      const [home, programs] = [yield* temporaryDirectory, yield* temporaryDirectory]
      yield* plant(programs, { docker: "#!/bin/sh\necho \"$1\" >>\"$HOME/asked\"\nexit 1\n" })
      yield* Effect.promise(() => chmod(join(programs, "docker"), 0o755))
      const questions = { remotePath: "~/x", images: ["shop:latest"], files: [], layers: true, thorough: false }
      const { code } = yield* runHere(preflightCommand(questions, true), { shell, home, programs })
      expect(code).toBe(3)
      expect(yield* Effect.promise(() => readFile(join(home, "asked"), "utf8"))).toBe("info\n")
    }))

  it.scoped("sees that compose is missing", () =>
    Effect.gen(function*() {
      const { facts } = yield* looked(shell, {}, "exit 1")
      expect(["none", "v1"]).toContain(facts.composeKind)
    }))
})

describe("parsePreflight", () => {
  it.each([
    ["20.10.24", "overlay2", ""],
    ["28.5.2", "containerd", "1.51"]
  ])("reads Docker %s on %s with the API %s", (engine, store, api) => {
    const status = store === "containerd" ? "[[\"driver-type\",\"io.containerd.snapshotter.v1\"]]" : "[[\"a\",\"b\"]]"
    const facts = parsePreflight(`docker\t${engine}|x|${status}|/var/lib/docker\napi\t${api}\n`)
    expect(facts).toMatchObject({ engine, containerdStore: store === "containerd", api })
  })

  it("passes over what it cannot read", () => {
    const facts = parsePreflight(`chain\t${id("a")} [broken\nimage\t\nfile\t\\${"0".repeat(64)}  ./a\\nb\nodd\n`)
    expect(facts).toMatchObject({ serverImages: [], engine: "", composeKind: "none" })
    expect([facts.imageIds.size, facts.fileHashes.size]).toEqual([0, 0])
  })
})
