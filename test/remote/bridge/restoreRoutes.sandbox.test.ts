import { describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { noteSwitch } from "../../../src/remote/bridge.ts"
import { runHere, type Shell, shells, systemShell } from "../../layers/RemoteHere.ts"
import { temporaryDirectory } from "../../layers/temporary.ts"

const source = fileURLToPath(new URL("../../../src/remote/activation/restore.sh", import.meta.url))

/** A port of this machine that something listens on. */
const listening = Effect.acquireRelease(
  Effect.async<ReturnType<typeof createServer>>((resume) => {
    const server = createServer()
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.sync(() => server.close())
).pipe(Effect.map((server) => {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}))

/** Runs restore.sh in a directory whose note tells of a bridge on port 30000. */
const restored = (
  shell: Shell,
  text: string,
  { isHere = true, isLocked = false, port }: { readonly isHere?: boolean; readonly isLocked?: boolean; port: number }
) =>
  Effect.gen(function*() {
    const home = yield* temporaryDirectory
    const [app, programs, proxy] = [join(home, "app"), join(home, "programs"), join(home, "proxy.yml")]
    mkdirSync(join(app, ".berth"), { recursive: true })
    mkdirSync(programs)
    // A busybox may have no flock.
    const docker = `#!/bin/sh\nprintf '%s\\n' "$*" >>'${home}/asked'\n`
    // Hold the lock of proxy files, and let time fly.
    const locked: ReadonlyArray<readonly [string, string]> = isLocked
      ? [
        ["flock", "#!/bin/sh\ncase \"$*\" in *-x\\ 9) exit 1 ;; esac\n"],
        ["date", `#!/bin/sh\necho x >>'${home}/ticks'\necho $(($(wc -l <'${home}/ticks') * 10))\n`]
      ]
      : [["flock", "#!/bin/sh\n"]]
    const stubs: ReadonlyArray<readonly [string, string]> = [["docker", `${docker}echo 2.32.4\n`], ...locked]
    for (const [name, program] of stubs) {
      writeFileSync(join(programs, name), program)
      chmodSync(join(programs, name), 0o755)
    }
    writeFileSync(proxy, text)
    const bridge = (own: number) => `bridge\tweb\tweb-bridge\t${port}\t${own}\n`
    writeFileSync(join(app, ".berth/bridge"), `run\ta-run\n${bridge(29999)}${bridge(30000)}`)
    writeFileSync(join(app, ".berth/waiting"), "")
    const noted = noteSwitch(app, "a-run", {
      file: proxy,
      server: "10.0.0.5:22",
      hosts: ["app.lan", "127.0.0.1"],
      settleSeconds: isHere ? Option.some(0) : Option.none()
    }, false)
    expect(yield* runHere(noted, { home, programs, shell })).toMatchObject({ code: 0, stderr: "" })
    const { status, stderr, stdout } = spawnSync("sh", [source, app], {
      encoding: "utf8",
      env: { HOME: home, PATH: `${programs}:${shell.path}` }
    })
    return {
      asked: readFileSync(join(home, "asked"), "utf8"),
      isNoted: existsSync(join(app, ".berth/bridge")),
      said: stdout + stderr,
      status,
      text: readFileSync(proxy, "utf8")
    }
  })

const cases = [
  { title: "the bridge serves", text: "a:\n  - url: \"http://app.lan:30000\" # it\nb: 1\n" },
  {
    title: "both serve",
    text: "a:\n  - url: \"http://app.lan:30000\" # it\n  - url: \"http://app.lan:PORT\" # it\nb: 1\n"
  },
  {
    title: "both serve again",
    text: "a:\n  - url: \"http://app.lan:PORT\" # it\n  - url: \"http://app.lan:30000\" # it\nb: 1\n"
  },
  { title: "the service serves again", text: "a:\n  - url: \"http://app.lan:PORT\" # it\nb: 1\n" }
].map(({ text, title }) => ({ text, title, expected: "a:\n  - url: \"http://app.lan:PORT\" # it\nb: 1\n" })).concat([
  {
    title: "servers have several lines, which end with CR LF",
    text: "a:\r\n  - weight: 1\r\n    url: http://APP.lan:30000/\r\n  - weight: 1\r\n    url: http://APP.lan:PORT/",
    expected: "a:\r\n  - weight: 1\r\n    url: http://APP.lan:PORT/"
  },
  {
    title: "servers are in one line",
    text: "a: [{ url: h://x:1 }, { url: http://127.0.0.1:PORT }, { url: http://127.0.0.1:30000 }] # é",
    expected: "a: [{ url: h://x:1 }, { url: http://127.0.0.1:PORT }] # é"
  },
  {
    title: "others have ports and hosts that look alike",
    text: "a:\n  - url: http://app.lan:300001\n  - url: http://my-app.lan:30000\n  - url: http://app.lan:30000\n",
    expected: "a:\n  - url: http://app.lan:300001\n  - url: http://my-app.lan:30000\n  - url: http://app.lan:PORT\n"
  }
])

describe.each(shells)("restore.sh beside a bridge, in $name", (shell) => {
  it.scoped.each(cases)("leads the requests back where $title", ({ expected, text }) =>
    Effect.gen(function*() {
      const port = yield* listening
      const filled = (words: string) => words.replaceAll("PORT", String(port))
      const { asked, isNoted, said, status, text: now } = yield* restored(shell, filled(text), { port })
      expect(now, said).toBe(filled(expected))
      expect([status, isNoted]).toEqual([0, false])
      expect(said).toContain("no requests go to a bridge any more")
      expect(asked).toContain("rm -fv web-bridge")
    }))

  it.scoped("only tells of the bridge where the file is on another server", () =>
    Effect.gen(function*() {
      const port = yield* listening
      const text = "url: http://app.lan:30000\n"
      const left = yield* restored(shell, text, { port, isHere: false })
      expect([left.text, left.isNoted, left.asked.includes("rm ")]).toEqual([text, true, false])
      expect(left.said).toMatch(/may lead to port 30000, the container web-bridge, in place of port \d+: deploy again/)
    }))

  it.scoped("leaves the bridge to serve where nothing listens on the port of the stack", () =>
    Effect.gen(function*() {
      const text = "url: http://app.lan:30000\n"
      const left = yield* restored(shell, text, { port: 9 })
      expect([left.text, left.isNoted, left.status]).toEqual([text, true, 1])
      expect(left.said).toContain("nothing listens on the port of the stack")
    }))
})

it.scoped("restore.sh leaves the bridge to serve where somebody else holds the proxy file, and says so", () =>
  Effect.gen(function*() {
    const text = "url: http://app.lan:30000\n"
    // A busybox takes its own date.
    const left = yield* restored(systemShell, text, { port: yield* listening, isLocked: true })
    expect([left.text, left.isNoted, left.status]).toEqual([text, true, 1])
    expect(left.said).toContain("proxy.yml cannot be written: somebody else has been editing it for 30 s")
  }))
