import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted, Schedule } from "effect"
import { chmod, copyFile, readFile } from "node:fs/promises"
import { join } from "node:path"
import { stringify } from "yaml"
import { docker, uniqueName } from "../../fixtures/docker/docker.ts"
import { realServer } from "../../fixtures/docker/realProject.ts"
import { freePort } from "../../fixtures/network/freePort.ts"
import { run, startSshd } from "../../fixtures/network/openssh.ts"
import { patience } from "../../fixtures/patience.ts"
import { settingsFileWith, startService } from "../../fixtures/programs/service.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

// PowerShell is not everywhere that the tests run: this one knows the few commands of the script that init writes.
const powerShell = `#!/bin/sh
for script do :; done
cd "$(dirname "$script")" || exit 1
value() { sed -n "s/^\\$$1 = '\\(.*\\)'$/\\1/p" "$script"; }
export DOCKER_BUILDKIT=0
docker build --tag "$(value image)" --file "$(sed -n "s/.*--file '\\(.*\\)' \\.$/\\1/p" "$script")" . || exit $?
docker save --output "$(value archive)" "$(value image)"
`

const dockerfile = `FROM scratch
COPY busybox /bin/busybox
COPY index.html /www/index.html
EXPOSE 8080
STOPSIGNAL SIGKILL
CMD ["/bin/busybox", "httpd", "-f", "-p", "8080", "-h", "/www"]
`

describe.skipIf(!realServer.available)(realServer.title("init, build and deploy on a real server"), () => {
  it.scopedLive("need no edit where one server is stored", () =>
    Effect.gen(function*() {
      const sshd = yield* startSshd()
      const user = yield* sshd.makeUser({ groups: ["docker"] })
      const root = yield* temporaryDirectory
      const name = yield* uniqueName("Berth_Init")
      const image = name.toLowerCase().replace("_", "-")
      const projectPath = join(root, name)
      const port = yield* freePort
      yield* plant(root, {
        [`${name}/Dockerfile`]: dockerfile,
        [`${name}/index.html`]: "deployed",
        [`${name}/.env`]: `HOST_PORT=${port}\n`,
        pwsh: powerShell
      })
      const busybox = (yield* Effect.orDie(run("sh", ["-c", "command -v busybox"]))).trim()
      yield* Effect.promise(async () => {
        await copyFile(busybox, join(projectPath, "busybox"))
        await chmod(join(root, "pwsh"), 0o755)
      })
      const settings = yield* settingsFileWith(stringify({
        build: { shell: [join(root, "pwsh")] },
        // Other tests' images on this Docker may share layers with this one; the archive is to be stored here.
        deploy: { transfer: "full", healthTimeout: "20 seconds", healthInterval: "500 millis" },
        servers: [{
          id: "real",
          name: "Real",
          host: sshd.host,
          port: sshd.port,
          username: user.name,
          password: Redacted.value(user.access().credentials.password ?? Redacted.make(""))
        }]
      }))
      const { request } = yield* startService(settings)
      yield* Effect.addFinalizer(() =>
        Effect.ignore(
          docker("rm", "-f", image).pipe(
            Effect.zipRight(docker("image", "rm", "-f", `${image}:latest`)),
            Effect.zipRight(docker("network", "rm", `${name.toLowerCase()}_default`))
          )
        )
      )

      expect((yield* request("POST", "/api/projects/init", { projectPath })).body).toMatchObject({
        created: ["container.json", "compose.yml", "build-image-tar.ps1", "build-image-tar.sh", ".dockerignore"],
        kept: [".env"]
      })
      const configFile = join(projectPath, "container.json")
      const config: unknown = JSON.parse(yield* Effect.promise(() => readFile(configFile, "utf8")))
      expect(config).toMatchObject({ serverId: "Real", remotePath: `~/containers/${name}` })
      expect((yield* request("POST", "/api/container/build", { projectPath })).body).toMatchObject({
        success: true,
        tarFile: `${image}.tar`
      })
      // The server has only what is deployed to it.
      yield* docker("image", "rm", "-f", `${image}:latest`)

      const target = { projectPath, serverId: "real", remotePath: `~/containers/${name}` }
      const deployed = yield* request("POST", "/api/container/deploy", target)
      expect(deployed).toMatchObject({ status: 200, body: { success: true, healthy: true, status: "healthy" } })
      const answer = yield* Effect.tryPromise(async () => (await fetch(`http://127.0.0.1:${port}/`)).text()).pipe(
        Effect.retry({ schedule: Schedule.spaced("50 millis"), times: 100 }),
        Effect.orDie
      )
      expect(answer).toBe("deployed")
      expect((yield* request("POST", "/api/projects/compare", target)).body).toMatchObject({
        summary: { "same": 2, "different": 0, "local-only": 0, "remote-only": 0 }
      })
      expect((yield* request("GET", "/api/servers/real/scan")).body).toMatchObject({
        deployed: [{ name, hasComposeFile: true, hasEnv: true, hasData: false, tarFile: `${image}.tar` }]
      })
      expect((yield* request("GET", "/api/servers/real/containers")).body).toMatchObject({
        containers: expect.arrayContaining([
          { name: image, status: expect.stringMatching(/^Up/), ports: expect.stringContaining(`:${port}->8080/tcp`) }
        ])
      })
    }), 120_000 * patience)
})
