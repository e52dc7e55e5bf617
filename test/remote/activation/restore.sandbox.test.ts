import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { activateCommand } from "../../../src/remote/activateCommand.ts"
import { runHere, type Shell, shells } from "../../layers/RemoteHere.ts"
import { temporaryDirectory } from "../../layers/temporary.ts"

const source = fileURLToPath(new URL("../../../src/remote/activation/restore.sh", import.meta.url))

// A Docker that runs one container of the image `old`, and keeps a copy of the home as it is when the stack is started:
// what a power cut leaves behind.
const docker = (home: string) =>
  `#!/bin/sh
printf '%s\\n' "$*" >>'${home}/asked'
case $* in
  "compose version --short") echo 2.32.4 ;;
  "image inspect"*) echo sha256:old ;;
  "ps -aq"*) exit 1 ;;
  "ps --no-trunc -a "*Names*) printf '%s\\tapp\\tapp-web-1\\tc1\\tweb\\tFalse\\n' "$PWD" ;;
  "ps --no-trunc -a "*) printf '%s\\tc1\\tapp\\tweb\\n' "$PWD" ;;
  "inspect --type container --format {{if"*) echo "sha256:old app:1 c1 /app-web-1" ;;
  "compose -f compose.yml up -d") [ -e '${home}-cut' ] || cp -a '${home}' '${home}-cut' ;;
esac
`

/** A deploy that was cut off while it started the stack. */
const cutOff = (shell: Shell) =>
  Effect.gen(function*() {
    const home = join(yield* temporaryDirectory, "home")
    const [app, programs] = [join(home, "app"), join(home, "programs")]
    mkdirSync(join(app, ".berth/incoming"), { recursive: true })
    mkdirSync(programs)
    // A busybox may have no flock.
    for (const [name, text] of [["docker", docker(home)], ["flock", "#!/bin/sh\n"]] as const) {
      writeFileSync(join(programs, name), text)
      chmodSync(join(programs, name), 0o755)
    }
    writeFileSync(join(app, "compose.yml"), "old")
    writeFileSync(join(app, "web.env"), "OLD=1")
    writeFileSync(join(app, ".berth/current"), "3\n")
    writeFileSync(join(app, ".berth/incoming/compose.yml"), "new")
    writeFileSync(join(app, ".berth/incoming/.env"), "NEW=1")
    const deployed = yield* runHere(
      activateCommand({
        run: "a-run",
        remotePath: app,
        composeKind: "v2",
        composeVersion: "2.32.4",
        composeFile: "compose.yml",
        containerdStore: false,
        source: { from: "none", archive: "", platform: "", names: [], format: "", expected: "" },
        stagedFiles: 2,
        envFiles: { brought: [".env"], gone: ["web.env"] },
        images: ["app:1"],
        release: ["by\tann"]
      }, false),
      { home, shell, programs }
    )
    expect(deployed).toMatchObject({ code: 0, stderr: "" })
    expect(readFileSync(join(app, "compose.yml"), "utf8")).toBe("new")
    expect(existsSync(join(app, "web.env"))).toBe(false)
    const cut = join(`${home}-cut`, "app")
    expect(existsSync(join(cut, ".berth/current"))).toBe(false)
    expect(existsSync(join(cut, "web.env"))).toBe(false)
    expect(readFileSync(join(cut, "compose.yml"), "utf8")).toBe("new")
    writeFileSync(join(home, "asked"), "")
    const run = (args: ReadonlyArray<string>) =>
      spawnSync("sh", [...args], { encoding: "utf8", env: { HOME: home, PATH: `${programs}:${shell.path}` } })
    return { app, asked: () => readFileSync(join(home, "asked"), "utf8").split("\n"), cut, run }
  })

describe.each(shells)("restore.sh in $name", (shell) => {
  it.scoped("puts back what ran before a deploy that was cut off, as that deploy left it on the server", () =>
    Effect.gen(function*() {
      const { asked, cut, run } = yield* cutOff(shell)
      const { status, stdout } = run([join(cut, ".berth/restore.sh")])
      expect([status, stdout]).toEqual([0, `${cut}: the previous version is back\n`])
      expect(readFileSync(join(cut, "compose.yml"), "utf8")).toBe("old")
      expect(existsSync(join(cut, ".env"))).toBe(false)
      expect(readFileSync(join(cut, "web.env"), "utf8")).toBe("OLD=1")
      expect(existsSync(join(cut, ".berth/previous"))).toBe(false)
      expect(readFileSync(join(cut, ".berth/current"), "utf8")).toBe("3\n")
      expect(asked()).toEqual(expect.arrayContaining(["tag sha256:old app:1", "compose -f compose.yml up -d"]))
    }))

  it.scoped("runs from the sources too, and says when there is nothing to put back", () =>
    Effect.gen(function*() {
      const { app, asked, cut, run } = yield* cutOff(shell)
      expect(run([source, cut]).stdout).toBe(`${cut}: the previous version is back\n`)
      writeFileSync(join(app, "..", "asked"), "")
      expect(run([source, app])).toMatchObject({
        status: 0,
        stdout: `${app}: no deploy was cut off here, so there is nothing to put back\n`
      })
      expect(asked()).toEqual([""])
    }))

  it.scoped("only gives the names of images their meaning back where no file was swapped and nothing ran", () =>
    Effect.gen(function*() {
      const { asked, cut, run } = yield* cutOff(shell)
      const before = `${cut}-before`
      cpSync(cut, before, { recursive: true })
      spawnSync("sh", [
        "-c",
        `rm -rf '${before}'/.berth/previous/* '${before}'/.berth/previous/.env*; : >'${before}/.berth/running'`
      ])
      expect(run([source, before])).toMatchObject({ status: 0, stderr: "" })
      expect(readFileSync(join(before, ".berth/current"), "utf8")).toBe("3\n")
      expect(asked().filter((call) => call.includes(" up ") || call.includes(" stop") || call.includes(" down")))
        .toEqual([])
    }))
})
