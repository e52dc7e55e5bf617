import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { executeStackAction, planStackRemoval } from "../../../src/pipelines/stacks.ts"
import type { StackAction } from "../../../src/schema/stacks.ts"
import { Runs } from "../../../src/services/runs/Runs.ts"
import { killScript, scene } from "../../fixtures/docker/deployScene.ts"
import { patience } from "../../fixtures/patience.ts"
import { shells } from "../../layers/RemoteHere.ts"

const actions: ReadonlyArray<StackAction> = ["stop", "start", "restart", "remove"]

const staged = (options?: Parameters<typeof scene>[0]) =>
  Effect.map(scene(options), (all) => {
    const does = (action: StackAction, fields: { readonly remotePath?: string; readonly volumes?: boolean } = {}) =>
      Effect.provide(
        executeStackAction(action, { serverId: "1", remotePath: "~/containers/shop", ...fields }),
        all.berth
      )
    const docker = (...args: ReadonlyArray<string>) =>
      spawnSync(join(all.standIns.bin, "docker"), args, {
        encoding: "utf8",
        env: { ...process.env, ...all.standIns.env }
      }).stdout.trim()
    const plans = (fields: { readonly remotePath?: string; readonly volumes?: boolean } = {}) =>
      Effect.provide(planStackRemoval({ serverId: "1", remotePath: "~/containers/shop", ...fields }), all.berth)
    return { ...all, docker, does, plans }
  })

describe.each(shells)("a stack on a server, in $name", (shell) => {
  it.scopedLive(
    "is stopped, started, restarted and removed, and data/ stays",
    () =>
      Effect.gen(function*() {
        const { archive, berth, bring, deployed, does, remote, standIns } = yield* staged({ shell: shell.path })
        yield* bring(archive("one"))
        yield* deployed
        expect(yield* does("stop")).toEqual({
          success: true,
          status: "exited",
          message: "Stopped ~/containers/shop on \"Main\". Its container does not run now."
        })
        expect(yield* does("start")).toMatchObject({ success: true, status: "healthy" })
        expect(yield* does("restart")).toMatchObject({
          status: "healthy",
          message: "Restarted ~/containers/shop on \"Main\": the stack is healthy."
        })
        const listed = yield* Effect.provide(Effect.flatMap(Runs, (runs) => runs.list({ kind: "stack" })), berth)
        expect(listed.runs.map(({ state, subject }) => [subject.action, state])).toEqual([
          ["restart", "succeeded"],
          ["start", "succeeded"],
          ["stop", "succeeded"]
        ])

        mkdirSync(join(remote, "data/db"), { recursive: true })
        writeFileSync(join(remote, "data/db/row"), "1")
        writeFileSync(join(remote, "own.txt"), "mine")
        const calls = (yield* standIns.dockerCalls).length
        const removed = yield* does("remove")
        expect(removed).toMatchObject({ success: true, status: "missing" })
        expect(removed.message).toMatch(/^Removed ~\/containers\/shop on "Main"\. Files: .*compose\.yml/)
        expect(removed.message).toMatch(/Its volumes and data\/ stay\.$/)
        expect(existsSync(join(remote, "data/db/row"))).toBe(true)
        expect(existsSync(join(remote, "own.txt"))).toBe(true)
        expect(["compose.yml", ".env", ".berth"].filter((name) => existsSync(join(remote, name)))).toEqual([])
        const asked = (yield* standIns.dockerCalls).slice(calls).map(({ args }) => args.join(" "))
        expect(asked).toContain("compose -f compose.yml down --remove-orphans")
        for (const action of actions) {
          expect(yield* Effect.flip(does(action))).toMatchObject({ _tag: "StackMissing", status: 404 })
        }
      }),
    60_000 * patience
  )

  it.scopedLive(
    "goes with its volumes only when that is asked for, and leaves no empty directory",
    () =>
      Effect.gen(function*() {
        const { archive, bring, deployed, directory, does, remote, standIns } = yield* staged({ shell: shell.path })
        rmSync(join(directory, "container.json"))
        yield* bring(archive("one"))
        yield* deployed
        const { message } = yield* does("remove", { volumes: true })
        expect(message).toMatch(/It had no volumes; data\/ stays\.$/)
        expect((yield* standIns.dockerCalls).map(({ args }) => args.join(" "))).toContain(
          "compose -f compose.yml down --remove-orphans -v"
        )
        expect(existsSync(remote)).toBe(false)
      }),
    60_000 * patience
  )
})

/** Every entry of a directory, with what is in it, as text that two moments can be compared by. */
const snapshot = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name)
    return `${path} ${entry.isFile() ? readFileSync(path, "utf8") : ""}`
  }).toSorted()

describe.each(shells)("the plan of a removal, in $name", (shell) => {
  it.scopedLive(
    "lists exactly what the removal then removes and leaves, and changes nothing",
    () =>
      Effect.gen(function*() {
        const { archive, bring, deployed, docker, does, plans, remote } = yield* staged({ shell: shell.path })
        yield* bring(archive("one"))
        yield* deployed
        yield* bring(archive("two"))
        yield* deployed
        const images = () =>
          docker("image", "ls", "-a", "--no-trunc", "--format", "{{.ID}} {{.Repository}}:{{.Tag}}").split("\n")
        // One of the two has another name; a line break in a name forges no line.
        const [first = ""] = readFileSync(join(remote, ".berth/releases/1/note"), "utf8").split("\n").flatMap((line) =>
          line.startsWith("image\t") ? [line.split("\t")[1] ?? ""] : []
        )
        docker("tag", first, "mine:1")
        for (const path of ["data/db", "uploads/deep", "conf", "bare", ".berth/backups/7"]) {
          mkdirSync(join(remote, path), { recursive: true })
        }
        const hostile = "x\ngoes\tfile\tdata"
        const own = ["own.txt", "uploads/deep/one", "conf/own\ttab", "conf/\u001b[31mred", hostile, ".hidden", "-n"]
        for (const name of [...own, "data/db/row"]) writeFileSync(join(remote, name), "1")
        symlinkSync("/", join(remote, "away"))
        writeFileSync(
          join(remote, ".berth/backups/7/manifest"),
          "at\t2026-01-02T03:04:05Z\ndata\tdatabase\tdatabase.gz\t2048\tabc\t1\n"
        )
        const [imagesBefore, filesBefore] = [images(), snapshot(remote)]

        const plan = yield* plans()
        expect([images(), snapshot(remote)]).toEqual([imagesBefore, filesBefore])
        expect(plan).toMatchObject({
          serverId: "1",
          remotePath: "~/containers/shop",
          containers: ["shop-web-1"],
          volumes: [],
          omitted: [],
          backups: [{ id: "7", takenAt: "2026-01-02T03:04:05Z", bytes: 2048, items: ["database"] }]
        })
        expect(plan.releases.map(({ id }) => id)).toEqual(["2", "1"])
        expect(plan.files).toEqual(expect.arrayContaining([".env", "compose.yml", "conf/a b'c"]))

        const removed = yield* does("remove")
        const gone = [...new Set(imagesBefore.map((line) => line.split(" ")[0]))].filter((id) =>
          id !== undefined && !images().some((line) => line.startsWith(id))
        )
        expect([plan.images, gone.length]).toEqual([["shop:latest"], 1])
        expect(images().map((line) => line.split(" ")[1])).toEqual(["mine:1"])
        for (const name of plan.files) expect([name, existsSync(join(remote, name))]).toEqual([name, false])
        expect(removed.message).toContain(`Files: ${plan.files.join(", ")}. Images: ${plan.images.join(", ")}. `)
        // The rest of the directory is what was to stay, with everything in it.
        const stayed = plan.stays.filter(({ kind }) => kind !== "image")
        expect(stayed.map(({ name }) => name).toSorted()).toEqual(
          ["data", "uploads", "bare", "away", ...own.filter((name) => !name.startsWith("uploads"))].toSorted()
        )
        for (const { name } of stayed) {
          expect([name, readdirSync(remote).includes(name.split("/")[0] ?? "")]).toEqual([name, true])
        }
        expect(readdirSync(remote).toSorted()).toEqual(
          [
            ...new Set(stayed.map(({ name }) => name.split("/")[0]))
          ].toSorted()
        )
        expect(plan.stays).toEqual(expect.arrayContaining([
          { kind: "directory", name: "data", because: "data/ is never removed" },
          { kind: "link", name: "away", because: expect.stringContaining("Berth did not bring it") },
          { kind: "image", name: "shop:latest", because: "it also has the name mine:1" }
        ]))
        expect(removed.stays?.toSorted((one, other) => one.name < other.name ? -1 : 1)).toEqual(
          plan.stays.toSorted((one, other) => one.name < other.name ? -1 : 1)
        )
        expect(yield* Effect.flip(plans())).toMatchObject({ _tag: "StackMissing", status: 404 })
      }),
    60_000 * patience
  )
})

describe("the plan of a removal", () => {
  it.scopedLive(
    "keeps an image that another container uses, and does not wait for a deploy",
    () =>
      Effect.gen(function*() {
        const { archive, bring, deployed, deployedWith, plans, remote, standIns } = yield* staged()
        yield* bring(archive("one"))
        yield* deployed
        yield* deployedWith({ remotePath: "~/containers/other" })
        const calls = (yield* standIns.dockerCalls).length
        const plan = yield* plans()
        expect([plan.images, plan.stays.filter(({ kind }) => kind === "image")]).toEqual([[], [
          {
            kind: "image",
            name: "shop:latest",
            because: expect.stringMatching(/another directory|container other-web-1/)
          }
        ]])
        const asked = (yield* standIns.dockerCalls).slice(calls).map(({ args }) => args.join(" "))
        expect(asked.filter((call) => !/^(ps|version|image ls|volume ls|inspect)\b/.test(call))).toEqual([])
        expect(existsSync(join(remote, ".berth/current"))).toBe(true)
      }),
    60_000 * patience
  )

  it.scopedLive(
    "ends early in a directory with very many entries, and says how many it left out",
    () =>
      Effect.gen(function*() {
        const { archive, bring, deployed, plans, remote } = yield* staged()
        yield* bring(archive("one"))
        yield* deployed
        for (let number = 0; number < 700; number++) writeFileSync(join(remote, `own-${number}`), "")
        const { omitted, stays } = yield* plans()
        expect(stays.length).toBeLessThan(510)
        expect(omitted).toEqual([{ list: "stays", number: 200 }])
      }),
    60_000 * patience
  )

  it.scopedLive("of a volume says whether it goes or stays, and why", () =>
    Effect.gen(function*() {
      // One that Docker named, one that compose took over from a container before, and one that another container uses too.
      const made = ["a", "b", "c"].map((sign) => sign.repeat(64))
      const { archive, bring, deployed, does, plans, program, remote } = yield* staged()
      yield* bring(archive("one"))
      yield* deployed
      yield* program(
        "docker",
        `case $* in
  "volume ls -q") printf '%s\\n' shop_old shop_busy ${made.join(" ")} ;;
  "volume ls"*) printf 'db\\tshop_db\\nold\\tshop_old\\nbusy\\tshop_busy\\n' ;;
  *"config --volumes") printf 'db\\nbusy\\n' ;;
  *"volume=shop_busy"*) echo "0123 other-web-1" ;;
  *"volume=${made[2]}"*) echo "0123 other-web-1" ;;
  *"--filter volume="*) ;;
  inspect*"range .Mounts"*) printf 'mount %s\\nmount %s\\nmount %s\\nmount shop_db\\nsource %s:/files:rw\\nsource shop_db:/db\\n' ${
          made.join(" ")
        } ${made[1]} ;;
  *) exec "$STAND_INS/docker" "$@" ;;
esac`
      )
      const fates = ({ stays, volumes }: Effect.Effect.Success<ReturnType<typeof plans>>) => [
        volumes,
        stays.flatMap(({ because, kind, name }) => kind === "volume" ? [`${name}: ${because}`] : [])
      ]
      const unasked = "volumes stay unless their removal is asked for"
      expect(fates(yield* plans())).toEqual([
        [],
        ["shop_busy", "shop_db", "shop_old", ...made].map((name) => `${name}: ${unasked}`)
      ])
      expect(fates(yield* plans({ volumes: true }))).toEqual([
        ["shop_db", made[0]],
        [
          "shop_busy: the container other-web-1 uses it",
          "shop_old: the compose file does not name it",
          `${made[1]}: the compose file does not name it`,
          `${made[2]}: the container other-web-1 uses it`
        ]
      ])
      // A copy of the directory has the name of the stack, and with it the same volumes.
      cpSync(remote, join(remote, "../../elsewhere/shop"), { recursive: true })
      const shared = "a stack of the same name in another directory has the same volumes"
      for (const volumes of [false, true]) {
        expect(fates(yield* plans({ remotePath: "~/elsewhere/shop", volumes }))).toEqual([
          [],
          ["shop_busy", "shop_db", "shop_old"].map((name) => `${name}: ${shared}`)
        ])
      }
      // The result is of what is there afterwards.
      const removed = yield* does("remove", { volumes: true })
      expect(removed.message).toContain("Volumes: shop_db. Its other volumes and data/ stay.")
      expect(removed.stays?.flatMap(({ because, kind, name }) => kind === "volume" ? [`${name}: ${because}`] : []))
        .toEqual([
          "shop_busy: the container other-web-1 uses it",
          "shop_old: the compose file does not name it",
          `${made[1]}: the compose file does not name it`,
          `${made[2]}: the container other-web-1 uses it`,
          `${made[0]}: Docker kept it`
        ])
    }), 60_000 * patience)
})

describe("a stack that is started again", () => {
  it.scopedLive("has the time to get healthy that its release notes", () =>
    Effect.gen(function*() {
      const { archive, bring, deployedWith, directory, does } = yield* staged({
        settings: { "deploy.healthTimeout": Duration.seconds(45) }
      })
      const ends = "command: [\"sh\", \"-c\", \"exit 3\"]"
      writeFileSync(join(directory, "compose.yml"), `services:\n  web:\n    image: shop:latest\n    ${ends}\n`)
      writeFileSync(join(directory, "container.json"), "{\"healthTimeout\": \"1 second\"}")
      yield* bring(archive("one"))
      expect(yield* deployedWith({ onUnhealthy: "keep" })).toMatchObject({ healthy: false })
      for (const action of ["restart", "start"] as const) {
        const [took, result] = yield* Effect.timed(does(action))
        expect(result).toMatchObject({ status: "exited", isFirst: true })
        expect(Duration.toSeconds(took)).toBeLessThan(20)
      }
      expect(yield* deployedWith({ onUnhealthy: "keep" })).toMatchObject({ healthy: false })
      expect(yield* does("start")).not.toHaveProperty("isFirst")
    }), 120_000 * patience)
})

describe("what Berth brought", () => {
  it.scopedLive(
    "goes as its releases note it, and never what is elsewhere, in data/, or has a name of others",
    () =>
      Effect.gen(function*() {
        const { archive, bring, deployed, docker, does, home, remote } = yield* staged()
        yield* bring(archive("one"))
        yield* deployed
        const id = docker("image", "inspect", "--format", "{{.Id}}", "shop:latest")
        docker("tag", "shop:latest", "mine:latest")
        const note = ["compose\tcompose.yml", "env\t.env", "file\tconf/a b'c", "large\t../../outside", "file\tdata/row"]
        const remove = (names: ReadonlyArray<string>) =>
          Effect.gen(function*() {
            rmSync(join(remote, ".berth/releases"), { recursive: true, force: true })
            mkdirSync(join(remote, ".berth/releases/1"), { recursive: true })
            mkdirSync(join(remote, "data"), { recursive: true })
            writeFileSync(join(remote, ".berth/releases/1/note"), [...note, ...names, ""].join("\n"))
            writeFileSync(join(remote, "data/row"), "1")
            writeFileSync(join(home, "outside"), "1")
            return yield* does("remove")
          })
        const images = [`image\t${id}\tshop:latest\tbrought`]
        const first = yield* remove(images)
        expect(first.message).toContain("Files: .env, compose.yml, conf/a b'c. Its volumes")
        expect(docker("image", "inspect", "--format", "{{.Id}}", "shop:latest")).toBe(id)
        expect(readdirSync(remote)).toEqual(["data"])
        expect(existsSync(join(home, "outside"))).toBe(true)

        docker("rmi", "mine:latest")
        yield* deployed
        expect((yield* remove([`image\t${id}\tshop:latest\tfound`])).message).not.toContain("Images")
        yield* deployed
        expect((yield* remove(images)).message).toContain("Images: shop:latest. ")
        expect(existsSync(join(remote, "data/row"))).toBe(true)

        yield* deployed
        writeFileSync(join(remote, ".berth/leaving"), `${id} shop:latest\n`)
        expect((yield* remove([])).message).toContain("Images: shop:latest. ")
      }),
    60_000 * patience
  )
})

describe("what a load that was cut off has left", () => {
  const cutOff = Effect.gen(function*() {
    const all = yield* staged()
    yield* all.standIns.setDockerVersion("28.5.2")
    yield* all.standIns.setStorageDriver("overlayfs")
    const names = (prefix: string) =>
      all.docker("image", "ls", "--format", "{{.Repository}}:{{.Tag}}").split("\n").filter((name) =>
        name.startsWith(prefix)
      )
    /** Has the server die when it has loaded an image, before what was loaded is looked at; some names have gone before. */
    const dies = Effect.gen(function*() {
      yield* all.program(
        "docker",
        `"$STAND_INS/docker" "$@" || exit
[ "$1" != load ] || { for n in 3 5; do "$STAND_INS/docker" tag shop:latest berth/incoming:$(cat ${all.remote}/.berth/loading)-$n; done; ${killScript}; }`
      )
      expect((yield* Effect.flip(all.deployed)).message).toMatch(/^Deploy failed at load: /)
      yield* all.program("docker", "exec \"$STAND_INS/docker\" \"$@\"")
    })
    return { ...all, dies, names }
  })

  it.scopedLive("goes with the stack, like the names that hold on to what ran before", () =>
    Effect.gen(function*() {
      const { archive, bring, deployed, dies, does, names } = yield* cutOff
      yield* bring(archive("one"))
      yield* deployed
      yield* bring(archive("two"))
      yield* dies
      expect([names("berth/incoming:").length, names("berth/kept:").length]).toEqual([3, 1])
      expect((yield* does("remove")).message).toContain("Images: shop:latest. ")
      expect([...names("berth/"), ...names("shop")]).toEqual([])
    }), 60_000 * patience)

  it.scopedLive("goes before the images are listed that a deploy finds there", () =>
    Effect.gen(function*() {
      const { archive, bring, deployed, dies, names, remote } = yield* cutOff
      yield* bring(archive("one"))
      yield* deployed
      yield* bring(archive("two"))
      yield* dies
      // Without a proof that it is complete it does not count as there.
      expect((yield* deployed).message).toMatch(/Sent \d+(\.\d)? kB of 30\d kB/)
      expect(names("berth/incoming:")).toEqual([])
      expect(readFileSync(join(remote, ".berth/releases/2/note"), "utf8")).toMatch(
        /^image\t\S+\tshop:latest\tbrought$/m
      )
      expect(existsSync(join(remote, ".berth/loading"))).toBe(false)
    }), 60_000 * patience)

  it.scopedLive("goes also where nothing was deployed before", () =>
    Effect.gen(function*() {
      const { archive, bring, dies, does, names, remote } = yield* cutOff
      yield* bring(archive("one"))
      yield* dies
      expect(names("berth/incoming:")).toHaveLength(1)
      expect(yield* does("remove")).toMatchObject({ status: "missing" })
      expect(names("berth/")).toEqual([])
      expect(existsSync(remote)).toBe(false)
    }), 60_000 * patience)
})

describe("a stack that is not there", () => {
  it.scopedLive("is a 404 that says so, and nothing is made for it", () =>
    Effect.gen(function*() {
      const { does, home } = yield* staged()
      mkdirSync(join(home, "empty"))
      for (const action of actions) {
        for (const remotePath of ["~/containers/none", "~/empty"]) {
          expect(yield* Effect.flip(does(action, { remotePath }))).toMatchObject({
            status: 404,
            message:
              `There is no stack at ${remotePath} on "Main": a scan of the server lists what is deployed there. Nothing was changed`
          })
        }
      }
      expect(readdirSync(home, { recursive: true })).toEqual(["empty"])
    }))

  it.scopedLive(
    "is told from one whose containers somebody removed, which a start makes again",
    () =>
      Effect.gen(function*() {
        const { archive, bring, deployed, docker, does, remote } = yield* staged()
        yield* bring(archive("one"))
        yield* deployed
        docker("rm", "-f", "shop-web-1")
        for (const action of ["stop", "restart"] as const) {
          expect((yield* Effect.flip(does(action))).message).toBe(
            "The stack at ~/containers/shop on \"Main\" has no containers. Nothing was changed: a start or a deploy makes them"
          )
        }
        expect(yield* does("start")).toMatchObject({ status: "healthy" })
        // Its compose file is gone: Docker knows its containers all the same.
        rmSync(join(remote, "compose.yml"))
        expect(yield* does("stop")).toMatchObject({ status: "exited" })
        expect(yield* does("start")).toMatchObject({ success: true })
        expect(yield* does("remove")).toMatchObject({ status: "missing" })
      }),
    60_000 * patience
  )
})

describe("a stack that another process deploys to", () => {
  it.scopedLive("is left alone, and the holder is named", () =>
    Effect.gen(function*() {
      const { archive, bring, deployed, does, remote, standIns } = yield* staged()
      yield* bring(archive("one"))
      yield* deployed
      const lock = join(remote, ".berth/lock")
      const holder = yield* Effect.acquireRelease(
        Effect.sync(() =>
          spawn("flock", [lock, "sh", "-c", "echo held; exec cat"], { stdio: ["pipe", "pipe", "ignore"] })
        ),
        (child) => Effect.sync(() => child.stdin.end())
      )
      yield* Effect.promise(() => once(holder.stdout, "data"))
      writeFileSync(join(remote, ".berth/holder"), "other-1\tann@elsewhere, since noon\n1 1\n")
      const calls = (yield* standIns.dockerCalls).length
      for (const action of actions) {
        expect(yield* Effect.flip(does(action))).toMatchObject({
          _tag: "DeployLocked",
          status: 409,
          message: expect.stringContaining("ann@elsewhere, since noon")
        })
      }
      const asked = (yield* standIns.dockerCalls).slice(calls).map(({ args }) => args.join(" "))
      expect(asked.filter((call) => /^(compose -f|stop|start|restart|rm)/.test(call))).toEqual([])
    }), 60_000 * patience)
})

describe("what a server refuses to do to a stack", () => {
  it.scopedLive("is told in its words, with what runs now", () =>
    Effect.gen(function*() {
      const { archive, bring, deployed, does, program, remote } = yield* staged()
      yield* bring(archive("one"))
      yield* deployed
      yield* program(
        "docker",
        `case $* in *" stop"|*" down"*) echo "it is bolted down" >&2; exit 1 ;; esac\nexec "$STAND_INS/docker" "$@"`
      )
      for (const action of ["stop", "remove"] as const) {
        expect(yield* Effect.flip(does(action))).toMatchObject({
          status: 502,
          message: `The ${action} of ~/containers/shop on "Main" failed: it is bolted down. Its container runs now`
        })
      }
      expect(existsSync(join(remote, "compose.yml"))).toBe(true)
    }), 60_000 * patience)

  it.scopedLive("needs a server that has Docker", () =>
    Effect.gen(function*() {
      const { does, home, standIns } = yield* staged()
      mkdirSync(join(home, "containers/shop"), { recursive: true })
      yield* standIns.setFlaw("docker-is-down", true)
      const { message, status } = yield* Effect.flip(does("stop"))
      expect([status, message]).toEqual([
        502,
        expect.stringMatching(/Cannot connect to the Docker daemon.*Nothing was changed$/)
      ])
    }))
})
