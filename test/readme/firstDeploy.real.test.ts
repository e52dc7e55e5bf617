import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { compiled } from "../fixtures/compiled.ts"
import { docker, lines, testLabel, uniqueName } from "../fixtures/docker/docker.ts"
import { realServer } from "../fixtures/docker/realProject.ts"
import { freePort } from "../fixtures/network/freePort.ts"
import { run, startSshd } from "../fixtures/network/openssh.ts"
import { ended } from "../fixtures/packed.ts"
import { patience } from "../fixtures/patience.ts"

const must = <A>(make: () => Promise<A>) => Effect.promise(make)
const busybox = spawnSync("sh", ["-c", "command -v busybox"], { encoding: "utf8" }).stdout.trim()

/** The five lines of the README that deploy to a server, without their comments. */
const firstDeploy = must(() => readFile("README.md", "utf8")).pipe(
  Effect.map((text) =>
    [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = ""]) => block)
      .filter((block) => block.includes("berth server add"))
      .flatMap((block) => lines(block)).map((line) => line.replace(/ +#.*/, ""))
  )
)

/** A home with `berth` on its PATH, the key that the README names, and a project that answers. */
const machine = (name: string, key: string, port: number) =>
  Effect.gen(function*() {
    const home = yield* Effect.acquireRelease(
      must(() => mkdtemp(join(tmpdir(), "berth-home-"))),
      (path) => must(() => rm(path, { recursive: true, force: true }))
    )
    const hello = join(home, "projects", name)
    yield* must(async () => {
      for (const path of [join(home, "bin"), join(home, ".ssh"), hello]) await mkdir(path, { recursive: true })
      await copyFile(key, join(home, ".ssh/id_ed25519"))
      await chmod(join(home, ".ssh/id_ed25519"), 0o600)
      const berth = join(home, "bin/berth")
      await writeFile(berth, `#!/bin/sh\nexec '${process.execPath}' '${compiled("src/cli/berth.ts")}' "$@"\n`)
      await chmod(berth, 0o755)
      await copyFile(busybox, join(hello, "busybox"))
      await writeFile(join(hello, "index.html"), name)
      await writeFile(join(hello, ".env"), `HOST_PORT=${port}\n`)
      await writeFile(
        join(hello, "Dockerfile"),
        `FROM scratch
COPY busybox /bin/busybox
COPY index.html /www/
LABEL ${testLabel}=${name}
EXPOSE 8080
CMD ["/bin/busybox", "httpd", "-f", "-p", "8080", "-h", "/www"]
`
      )
    })
    return home
  })

const title = realServer.title("the first deploy of the README")

describe.skipIf(!realServer.available || busybox === "")(title, () => {
  it.scopedLive(
    "works as it stands, in five lines, on a machine where nothing is set up",
    () =>
      Effect.gen(function*() {
        const sshd = yield* startSshd()
        const user = yield* sshd.makeUser({ groups: ["docker"] })
        const name = yield* uniqueName("berth-first")
        const port = yield* freePort
        const home = yield* machine(name, yield* user.makeKey(), port)
        yield* Effect.addFinalizer(() =>
          Effect.gen(function*() {
            yield* docker("rm", "-f", name)
            const networks = lines(yield* docker("network", "ls", "-q", "--filter", `name=${name}`))
            if (networks.length > 0) yield* docker("network", "rm", ...networks)
            yield* docker("image", "rm", "-f", `${name}:latest`)
          }).pipe(Effect.sandbox, Effect.ignore)
        )

        const environment = {
          HOME: home,
          PATH: `${join(home, "bin")}:${process.env["PATH"] ?? ""}`,
          XDG_CONFIG_HOME: "",
          XDG_STATE_HOME: ""
        }
        const commands = yield* firstDeploy
        expect(commands).toHaveLength(5)
        // Another server, another project, and nobody who answers: the rest stands as it is.
        const [look = "", ...others] = commands.map((line) =>
          line.replace("deployer@main.example.com", `${user.name}@${sshd.host}:${sshd.port}`)
            .replace("~/projects/hello", `~/projects/${name}`)
            .replace(/^berth (?:init|deploy\b.*)$/, "$& --yes")
        )
        const shown = yield* ended("sh", ["-c", look], home, environment)
        const [fingerprint = ""] = /SHA256:[\w+/]+/.exec(shown.out) ?? []
        const known = yield* run("ssh-keygen", ["-lf", "-"], yield* sshd.hostKey())
        expect(known, shown.out + shown.err).toContain(` ${fingerprint} `)

        const script = others.join("\n").replace("SHA256:…", fingerprint)
        const { code, err, out } = yield* ended("sh", ["-ec", script], home, environment)
        expect(code, out + err).toBe(0)
        const answer = yield* must(async () => (await fetch(`http://127.0.0.1:${port}/`)).text())
        expect(answer).toBe(name)
      }),
    120_000 * patience
  )
})
