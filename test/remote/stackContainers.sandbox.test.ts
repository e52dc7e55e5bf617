import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { activateCommand } from "../../src/remote/activateCommand.ts"
import { parsePreflight, preflightCommand } from "../../src/remote/deploy.ts"
import { findContainersCommand, parseFoundContainers } from "../../src/remote/exec.ts"
import { stackLogsCommand } from "../../src/remote/logs.ts"
import { parseStack, stackCommand } from "../../src/remote/stack.ts"
import type { RemoteCommand } from "../../src/services/ssh/Ssh.ts"
import { activation } from "../fixtures/docker/activation.ts"
import { runHere, shells } from "../layers/RemoteHere.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

/** A container as Docker tells it: place, project, name, id, service, one-off, state and ports. */
type Row = readonly [
  place: string,
  project: string,
  name: string,
  id: string,
  service: string,
  oneOff: string,
  state: string,
  ports: string
]

const id = (number: number) => String(number).repeat(64)

// Lists the containers of a file in the format that it is asked for, and notes what else it is asked.
const docker = `#!/bin/sh
printf '%s\\n' "$*" >>"$HOME/asked"
case $1 in
  ps)
    all= format=
    while [ "$#" -gt 0 ]; do
      case $1 in -a*) all=yes ;; --format) format=$2 ;; esac
      shift
    done
    while IFS='|' read -r place project name id service oneoff state ports; do
      [ -n "$all" ] || [ "$state" = running ] || continue
      printf '%s\\n' "$format" | sed -e "s#{{.Label \\"com.docker.compose.project.working_dir\\"}}#$place#" \\
        -e "s#{{.Label \\"com.docker.compose.project\\"}}#$project#" -e "s#{{.Names}}#$name#" -e "s#{{.ID}}#$id#" \\
        -e "s#{{.Label \\"com.docker.compose.service\\"}}#$service#" -e "s#{{.Label \\"com.docker.compose.oneoff\\"}}#$oneoff#" \\
        -e "s#{{.Label \\"com.docker.compose.container-number\\"}}#1#" -e "s#{{.State}}#$state#" -e "s#{{.Ports}}#$ports#"
    done <"$HOME/rows"
    ;;
  info) echo '20.10.24|overlay2|[]|linux|/nowhere' ;;
  version) echo 20.10.24 ;;
  compose)
    case $* in
      *version*) echo 2.32.4 ;;
      *logs*) printf '%s  | 2024-05-05T10:00:01.0Z text\\n' shop-web-1 web-1 cron-1 ;;
    esac
    ;;
esac
`

describe.each(shells)("a stack, in $name", (shell) => {
  /** A home with ~/live/shop behind the link ~/apps, and beside it a stack of the same name. */
  const server = (rows: (home: string) => ReadonlyArray<Row>) =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      yield* plant(home, { "live/shop/compose.yml": "services: {}", "staging/shop": { directory: true } })
      symlinkSync(join(home, "live"), join(home, "apps"))
      const programs = join(home, "programs")
      yield* plant(programs, { docker, flock: "#!/bin/sh\n" })
      for (const name of ["docker", "flock"]) chmodSync(join(programs, name), 0o755)
      writeFileSync(join(home, "rows"), rows(home).map((row) => `${row.join("|")}\n`).join(""))
      return {
        home,
        run: (command: RemoteCommand) => runHere(command, { home, shell, programs }),
        asked: () => readFileSync(join(home, "asked"), "utf8").split("\n")
      }
    })
  const own = (home: string): ReadonlyArray<Row> => [
    [`${home}/apps/shop`, "shop", "shop-web-1", id(1), "web", "False", "running", "0.0.0.0:80->80/tcp"],
    [`${home}/live/shop`, "shop", "shop-old-1", id(2), "old", "False", "exited", ""],
    [`${home}/live/shop`, "shop", "shop-web-run-1", id(3), "web", "True", "running", ""]
  ]
  const foreign = (
    home: string
  ): Row => [`${home}/staging/shop`, "shop", "shop-cron-1", id(4), "cron", "False", "running", "0.0.0.0:81->80/tcp"]
  const others = (home: string): ReadonlyArray<Row> => [
    [`${home}/other`, "other", "other-web-1", id(5), "web", "False", "running", "0.0.0.0:82->80/tcp"],
    ["", "", "by-hand", id(6), "", "", "running", "0.0.0.0:83->80/tcp"]
  ]
  const all = (home: string) => [...own(home), foreign(home), ...others(home)]
  const alone = (home: string) => [...own(home), ...others(home)]

  it.scoped("has the containers of its directory, in its real and in its logical form, and no others", () =>
    Effect.gen(function*() {
      const { run } = yield* server(all)
      for (const path of ["~/live/shop", "~/apps/shop"]) {
        const found = parseFoundContainers((yield* run(findContainersCommand(path, false))).stdout)
        expect(found?.map(({ id }) => id)).toEqual([id(1), id(2)])
      }
    }))

  it.scoped("is told of the containers of its name elsewhere, and of the ports of all others", () =>
    Effect.gen(function*() {
      const { home, run } = yield* server(all)
      const facts = (remotePath: string, projectName = "") =>
        Effect.map(
          run(
            preflightCommand({ remotePath, projectName, images: [], files: [], layers: false, thorough: false }, false)
          ),
          ({ stdout }) => parsePreflight(stdout)
        )
      const cron = { directory: `${home}/staging/shop`, container: "shop-cron-1", project: "shop" }
      for (const path of ["~/live/shop", "~/apps/shop"]) {
        const { foreign, taken } = yield* facts(path)
        expect(foreign).toEqual([cron])
        expect(taken.flatMap(({ ranges }) => ranges.map(({ first }) => first))).toEqual([81, 82, 83])
      }
      // One that its files name, and one that differs from the other's.
      expect((yield* facts("~/live/shop", "other")).foreign.map(({ container }) => container)).toEqual(["other-web-1"])
      expect((yield* facts("~/live/shop", "shop2")).foreign).toEqual([])
      // Under another name, those of the directory are another stack's, with their ports.
      const renamed = yield* facts("~/live/shop", "shop2")
      expect(renamed.apart.map(({ container, project }) => [container, project])).toEqual([
        ["shop-web-1", "shop"],
        ["shop-old-1", "shop"],
        ["shop-web-run-1", "shop"]
      ])
      expect(renamed.taken.flatMap(({ ranges }) => ranges.map(({ first }) => first))).toEqual([80, 81, 82, 83])
      expect((yield* facts("~/live/shop")).apart).toEqual([])
      // Without a name, the stack has those of its containers: a release of an earlier version does not say it.
      const unnamed = { remotePath: "~/live/shop", images: [], files: [], layers: false, thorough: false }
      const { apart, foreign } = parsePreflight((yield* run(preflightCommand(unnamed, false))).stdout)
      expect([apart, foreign]).toEqual([[], [cron]])
      // A directory that does not exist yet, with the name that compose derives.
      expect((yield* facts("~/new/Sh.op")).foreign).toHaveLength(4)
      expect((yield* facts("~/new/sho")).foreign).toEqual([])
    }))

  it.scoped("is stopped as a whole, also what its files no longer name", () =>
    Effect.gen(function*() {
      const { asked, run } = yield* server(alone)
      expect((yield* run(stackCommand("stop", "~/live/shop", false))).code).toBe(0)
      expect(asked()).toEqual(expect.arrayContaining(["compose -f compose.yml stop", `stop ${id(1)} ${id(2)}`]))
    }))

  it.scoped("acts by ids where another one has its name, and is not started", () =>
    Effect.gen(function*() {
      const { asked, home, run } = yield* server(all)
      for (const action of ["stop", "restart"] as const) {
        expect((yield* run(stackCommand(action, "~/live/shop", false))).code).toBe(0)
        expect(asked()).toContain(`${action} ${id(1)} ${id(2)}`)
      }
      const started = yield* run(stackCommand("start", "~/live/shop", false))
      expect(started.code).toBe(1)
      expect(parseStack(started.stdout).foreign).toEqual([
        { directory: `${home}/staging/shop`, container: "shop-cron-1", project: "shop" }
      ])
      const removed = yield* run(stackCommand("remove", "~/live/shop", false, { volumes: true }))
      expect(parseStack(removed.stdout).foreign).toHaveLength(1)
      expect(asked()).toContain(`rm -f ${id(1)} ${id(2)}`)
      expect(asked().filter((line) => /^compose .*(?:stop|restart|up|down)/.test(line) || line.includes(id(4))))
        .toEqual(
          []
        )
    }))

  it.scoped("has the lines of its own log, where compose prints those of another one too", () =>
    Effect.gen(function*() {
      const read = (rows: typeof all) =>
        Effect.gen(function*() {
          const { run } = yield* server(rows)
          return (yield* run(stackLogsCommand("~/live/shop", 9, false))).stdout.split("\n").map((line) =>
            line.split(" ")[0]
          )
        })
      expect(yield* read(all)).toEqual(["web", "web", ""])
      expect(yield* read(alone)).toEqual(["cron-1", "web", "web", ""])
    }))

  it.scoped("is not started by a deploy once another one has its name, or where Docker does not tell", () =>
    Effect.gen(function*() {
      const { asked, home, run } = yield* server(all)
      mkdirSync(join(home, "live/shop/.berth"))
      const deploy = run(activateCommand({ ...activation, remotePath: "~/live/shop" }, false))
      const refused = yield* deploy
      expect(refused.stdout).toContain(
        `failed\tconfig\tyes\tnothing\nforeign\t${home}/staging/shop\tshop-cron-1\tshop`
      )
      expect(asked().filter((line) => / up | down|^stop|^rm /.test(line))).toEqual([])
      expect(readFileSync(join(home, "live/shop/compose.yml"), "utf8")).toBe("services: {}")
      writeFileSync(join(home, "rows"), alone(home).map((row) => `${row.join("|")}\n`).join(""))
      yield* deploy
      expect(asked()).toContain("compose -f compose.yml up -d")

      const silent = yield* server(alone)
      mkdirSync(join(silent.home, "live/shop/.berth"))
      rmSync(join(silent.home, "rows"))
      const unknown = yield* silent.run(activateCommand({ ...activation, remotePath: "~/live/shop" }, false))
      expect(unknown.stdout).toContain("failed\tload\tyes\tunknown\nwhat runs now could not be noted in .berth: ")
      expect(silent.asked().filter((line) => line.includes(" up "))).toEqual([])
    }))
})
