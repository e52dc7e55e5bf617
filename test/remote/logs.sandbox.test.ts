import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmod } from "node:fs/promises"
import { join } from "node:path"
import { containerLogsCommand, type LogOptions, stackLogsCommand } from "../../src/remote/logs.ts"
import { containersCommand, parseContainers } from "../../src/remote/stack.ts"
import { runHere, shells } from "../layers/RemoteHere.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

// Two services whose lines interleave in time. Compose prints one service after the other, with its own remarks.
const stack = `
cat <<'END'
Attaching to app_web_1, app_db_1
web_1  | 2024-05-05T10:00:01.000000000Z one
web_1  | 2024-05-05T10:00:03.000000000Z three | 2024-05-05T09:00:00.000000000Z not the time
web_1  | 2024-05-05T10:00:03.000000000Z three and a half
web_1  | 2024-05-05T10:00:05.000000000Z
db_1   | 2024-05-05T10:00:02.000000000Z two
db_1   | 2024-05-05T10:00:04.000000000Z   four
app_web_1 exited with code 0
END
echo 'level=warning msg="the attribute version is obsolete"' >&2
`
const docker = (compose: string) =>
  `#!/bin/sh
printf '%s|' "$@" >>"$HOME/asked"
case $1 in
  compose) shift; case $1 in version) echo 2.30.0; exit 0 ;; esac
    ${compose} ;;
  logs) echo out; echo err >&2; [ "$4" != none ] || exit 1 ;;
esac
`

describe.each(shells)("logs in $name", (shell) => {
  const server = (programs: { readonly [name: string]: string }) =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      const directory = join(home, "programs")
      yield* plant(directory, programs)
      yield* Effect.promise(() => Promise.all(Object.keys(programs).map((name) => chmod(join(directory, name), 0o755))))
      yield* plant(home, { "containers/app": { directory: true } })
      return { shell, home, programs: directory }
    })

  it.scoped("puts both streams of a container into one", () =>
    Effect.gen(function*() {
      const here = yield* server({ docker: docker("exit 9") })
      const answer = yield* runHere(containerLogsCommand("web", 7, false), here)
      expect(answer).toMatchObject({ code: 0, stdout: "out\nerr\n", stderr: "" })
      const asked = yield* runHere({ what: "", script: "cat asked", args: [], sudo: false }, here)
      expect(asked.stdout).toBe("logs|--tail|7|web|")
      expect((yield* runHere(containerLogsCommand("none", 7, false), here)).code).toBe(1)
    }))

  it.scoped("tells the last lines of a whole stack in the order of their time", () =>
    Effect.gen(function*() {
      const here = yield* server({ docker: docker(stack) })
      const all = yield* runHere(stackLogsCommand("~/containers/app", 100, false), here)
      expect(all.code).toBe(0)
      expect(all.stdout).toBe([
        "web_1 | one",
        "db_1 | two",
        "web_1 | three | 2024-05-05T09:00:00.000000000Z not the time",
        "web_1 | three and a half",
        "db_1 |   four",
        "web_1 |",
        ""
      ].join("\n"))
      const some = yield* runHere(stackLogsCommand("~/containers/app", 3, false), here)
      expect(some.stdout).toBe("web_1 | three and a half\ndb_1 |   four\nweb_1 |\n")
      const asked = yield* runHere({ what: "", script: "cat asked", args: [], sudo: false }, here)
      expect(asked.stdout).toContain("compose|logs|--no-color|--timestamps|--tail|3|")
      yield* runHere(stackLogsCommand("~/containers/app", 3, false, { service: "web" }), here)
      const last = yield* runHere({ what: "", script: "cat asked", args: [], sudo: false }, here)
      expect(last.stdout).toMatch(/compose\|logs\|--no-color\|--timestamps\|--tail\|3\|web\|$/)
    }))

  it.scoped("searches further back than the last lines for what they contain, and for those before a time", () =>
    Effect.gen(function*() {
      const here = yield* server({ docker: docker(stack) })
      const asked = (options: LogOptions) =>
        Effect.map(runHere(stackLogsCommand("~/containers/app", 1, false, options), here), ({ stdout }) => stdout)
      expect(yield* asked({ contains: "THREE" })).toBe(
        "web_1 | three | 2024-05-05T09:00:00.000000000Z not the time\nweb_1 | three and a half\n"
      )
      expect(yield* asked({ contains: "three and.*" })).toBe("")
      expect(yield* asked({ contains: "-e one" })).toBe("")
      expect(yield* asked({ until: "2024-05-05T10:00:02.500Z" })).toBe("db_1 | two\n")
      const words = yield* runHere({ what: "", script: "cat asked", args: [], sudo: false }, here)
      expect(words.stdout).toContain("|--tail|200000|")
      expect(words.stdout).toContain("|--tail|all|")
    }))

  it.scoped("searches the log of a container, and fails as before where there is none", () =>
    Effect.gen(function*() {
      const stub = `#!/bin/sh
printf '%s|' "$@" >>"$HOME/asked"
case $1 in
  inspect) [ "$6" != none ] || { echo 'Error: No such container: none' >&2; exit 1; } ;;
  logs) printf 'one Two\nthree\nTWO\n' ;;
esac
`
      const here = yield* server({ docker: stub })
      const found = yield* runHere(containerLogsCommand("web", 1, false, { contains: "two", until: "-60" }), here)
      expect(found).toMatchObject({ code: 0, stdout: "one Two\nTWO\n" })
      expect((yield* runHere(containerLogsCommand("web", 1, false, { until: "-60" }), here)).stdout).toBe("TWO\n")
      const none = yield* runHere(containerLogsCommand("none", 1, false, { contains: "two" }), here)
      expect(none).toMatchObject({ code: 1, stdout: "Error: No such container: none\n" })
    }))

  // Its columns: name, project, service, number, one-off.
  const forms: ReadonlyArray<
    readonly [form: string, containers: ReadonlyArray<string>, prefixes: string, labels: string]
  > = [
    [
      "docker-compose 1.29",
      ["app_web_1|app|web|1|False", "app_db_1|app|db|1|False"],
      "web_1  | db_1   |",
      "web | db |"
    ],
    ["compose v2", ["app-web-1|app|web|1|False", "app-db-1|app|db|1|False"], "web-1  | db-1   |", "web | db |"],
    [
      "several containers, 1.29",
      ["app_web_1|app|web|1|False", "app_web_2|app|web|2|False", "app_db_1|app|db|1|False"],
      "web_1  | web_2  | db_1   |",
      "web-1 | web-2 | db |"
    ],
    [
      "several containers, v2",
      ["app-web-1|app|web|1|False", "app-web-12|app|web|12|False", "app-db-1|app|db|1|False"],
      "web-1   | web-12  | db-1    |",
      "web-1 | web-12 | db |"
    ],
    ["names of its own", ["my.web|app|web|1|False", "app-x|app|db|1|False"], "my.web  | x       |", "web | db |"],
    [
      "one that is being replaced, and one that was run once",
      ["0a1b2c_app_web_1|app|web|1|False", "app_web_1|app|web|1|False", "app_web_run_2|app|web|2|True"],
      "web_1  | 0a1b2c_app_web_1  |",
      "web | web |"
    ],
    ["no list of containers", [], "web_1  | db_1   |", "web_1 | db_1 |"]
  ]
  it.scoped.each(forms)("names services, with numbers only where they tell containers apart: %s", (
    [, containers, prefixes, labels]
  ) =>
    Effect.gen(function*() {
      const lines = prefixes.split(/(?<=\|) ?/).map((prefix, at) => `${prefix} 2024-05-05T10:00:0${at}.0Z text | ${at}`)
      const listed = containers.map((line) => line.replace(/^([^|]*)\|([^|]*)\|/, `$2\t$1\t`))
        .map((line) => `"$HOME/containers/app\t${line}"`).join(" ")
      const stub = docker(`printf '%s\\n' ${lines.map((line) => `'${line}'`).join(" ")}`).replace(
        "case $1 in",
        `case $1 in\n  ps) printf '%s\\n' ${listed} ;;`
      )
      const { code, stdout } = yield* runHere(
        stackLogsCommand("~/containers/app", 9, false),
        yield* server({ docker: stub })
      )
      expect(code).toBe(0)
      expect(stdout).toBe(labels.split(/(?<=\|) ?/).map((label, at) => `${label} text | ${at}\n`).join(""))
    }))

  it.scoped("uses docker-compose where docker has no compose", () =>
    Effect.gen(function*() {
      const here = yield* server({
        "docker": "#!/bin/sh\nexit 1\n",
        "docker-compose": "#!/bin/sh\ncase $1 in version) echo 1.29.2 ;; *) " +
          "echo 'web_1  | 2024-05-05T10:00:01.000000000Z one' ;; esac\n"
      })
      const answer = yield* runHere(stackLogsCommand("~/containers/app", 3, false), here)
      expect(answer).toMatchObject({ code: 0, stdout: "web_1 | one\n" })
    }))

  it.scoped("fails with what compose says, with no compose, and with no directory", () =>
    Effect.gen(function*() {
      const here = yield* server({ docker: docker("echo 'no configuration file provided' >&2; exit 14") })
      const failed = yield* runHere(stackLogsCommand("~/containers/app", 3, false), here)
      expect(failed).toMatchObject({ code: 14, stderr: "no configuration file provided\n" })
      const none = yield* server({ "docker": "#!/bin/sh\nexit 1\n", "docker-compose": "#!/bin/sh\nexit 1\n" })
      const without = yield* runHere(stackLogsCommand("~/containers/app", 3, false), none)
      expect(without.code).toBe(127)
      expect(without.stderr).toContain("neither docker compose nor docker-compose is installed")
      const nowhere = yield* runHere(stackLogsCommand("~/containers/$(x)", 3, false), here)
      expect(nowhere.code).toBe(66)
      expect(nowhere.stderr).toContain("containers/$(x)")
    }))

  it.scoped("lists containers", () =>
    Effect.gen(function*() {
      const script = "#!/bin/sh\nprintf 'web\\tUp 2 hours (healthy)\\t0.0.0.0:80->80/tcp\\n%s\\n' 'web/db,db\tUp\t'\n"
      const here = yield* server({ docker: script })
      const { stdout } = yield* runHere(containersCommand(false), here)
      expect(parseContainers(stdout)).toEqual([
        { name: "web", status: "Up 2 hours (healthy)", ports: "0.0.0.0:80->80/tcp" },
        { name: "db", status: "Up", ports: "" }
      ])
      const asking = yield* server({ docker: "#!/bin/sh\nprintf '%s|' \"$2\"\n" })
      expect((yield* runHere(containersCommand(false, true), asking)).stdout).toBe("--all|")
      expect((yield* runHere(containersCommand(false), asking)).stdout).toBe("--format|")
    }))
})
