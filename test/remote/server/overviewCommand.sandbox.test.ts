import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmod, symlink } from "node:fs/promises"
import { join } from "node:path"
import { overviewCommand, overviewExit, parseDisks, parseOverview, parseUsage } from "../../../src/remote/server.ts"
import { runHere, shells, systemShell } from "../../layers/RemoteHere.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

const must = <A>(make: () => Promise<A>) => Effect.promise(make)
const hostile = [
  "$(touch RAN)",
  "`touch RAN`",
  "'; touch RAN; '",
  "two words",
  " edge ",
  "-n",
  "*",
  "[a]",
  "back\\slash",
  "tab\tbed",
  "ünï",
  "%s",
  "$HOME"
]

/** A home whose docker lists these containers: their status and the directory of their stack. */
const stage = (containers: ReadonlyArray<readonly [status: string, directory: string]>, broken = false) =>
  Effect.gen(function*() {
    const home = yield* temporaryDirectory
    const at = (directory: string) => directory.replace(/^HOME/, home)
    const lines = containers.map(([status, directory], index) =>
      `container\t${status}\t0.0.0.0:${2000 + index}->80/tcp\tc${index},web-${index}/db\t${at(directory)}\n`
    ).join("")
    yield* plant(home, {
      "list": lines,
      "bin/docker": broken ? "#!/bin/sh\necho 'permission denied' >&2\nexit 1\n" : `#!/bin/sh\ncat "$HOME/list"\n`
    })
    yield* must(() => chmod(join(home, "bin", "docker"), 0o755))
    return { home, programs: join(home, "bin") }
  })

describe.each(shells)("the overview of a server in $name", (shell) => {
  it.scoped("tells each stack's containers and release, wherever its directory really is", () =>
    Effect.gen(function*() {
      const { home, programs } = yield* stage([
        ["Up 3 hours", "HOME/containers/web"],
        ["Exited (1) 2 days ago", "HOME/containers/web"],
        ["Up 1 hour", "HOME/real"],
        ["Up 2 hours", "HOME/containers/other"],
        ["Up 9 hours", ""],
        ["Up 4 hours", "HOME/apps/over"]
      ])
      yield* plant(home, {
        "containers/web/.berth/current": "20260102-aa\n",
        "containers/other/.berth/current": "20260103-bb\n",
        "containers/evil/.berth/current": "$(touch RAN) x\n",
        "containers/quiet": { directory: true },
        "real": { directory: true },
        "disk/over/.berth/current": "20260104-cc\n"
      })
      yield* must(() => symlink("../real", join(home, "containers/linked")))
      // Compose 2 was called over one link; the project names another one.
      yield* must(() => symlink("disk", join(home, "apps")))
      yield* must(() => symlink("../disk/over", join(home, "containers/over")))
      const asked = ["web", "linked", "none", "evil", "over"].map((name) => `~/containers/${name}`)
      const exit = yield* runHere(overviewCommand(asked, false), { shell, home, programs })
      expect({ code: exit.code, stderr: exit.stderr }).toEqual({ code: 0, stderr: "" })
      const stackAt = parseOverview(exit.stdout, asked)
      expect(stackAt("~/containers/web")).toEqual({
        statuses: ["Up 3 hours", "Exited (1) 2 days ago"],
        names: ["c0", "c1"],
        ports: ["0.0.0.0:2000->80/tcp", "0.0.0.0:2001->80/tcp"],
        release: "20260102-aa"
      })
      expect(stackAt("~/containers/linked")).toEqual({
        statuses: ["Up 1 hour"],
        names: ["c2"],
        ports: ["0.0.0.0:2002->80/tcp"],
        release: null
      })
      expect(stackAt("~/containers/over")).toEqual({
        statuses: ["Up 4 hours"],
        names: ["c5"],
        ports: ["0.0.0.0:2005->80/tcp"],
        release: "20260104-cc"
      })
      // It was not asked for.
      expect(stackAt("~/containers/other")).toEqual({
        statuses: ["Up 2 hours"],
        names: ["c3"],
        ports: ["0.0.0.0:2003->80/tcp"],
        release: "20260103-bb"
      })
      for (const path of ["~/containers/none", "~/containers/evil", "~/containers/quiet", "/etc"]) {
        expect(stackAt(path)).toEqual({ statuses: [], names: [], ports: [], release: null })
      }
    }))

  it.scoped("tells the disk of the stacks", () =>
    Effect.gen(function*() {
      const { home, programs } = yield* stage([])
      const { stdout } = yield* runHere(overviewCommand([], false), { shell, home, programs })
      const [disk] = parseDisks(stdout)
      expect(disk).toMatchObject({ holds: ["containers"], mountedOn: expect.stringMatching(/^\//) })
      expect(disk?.freeBytes).toBeGreaterThan(0)
      expect(disk?.totalBytes).toBeGreaterThan(disk?.freeBytes ?? 0)
    }))

  it.scoped("tells its load and memory", () =>
    Effect.gen(function*() {
      const { home, programs } = yield* stage([])
      const { load, memory } = parseUsage(
        (yield* runHere(overviewCommand([], false), { shell, home, programs })).stdout
      )
      expect(load?.processors).toBeGreaterThan(0)
      expect(load?.minute).toBeGreaterThanOrEqual(0)
      expect(memory?.totalBytes).toBeGreaterThan(memory?.freeBytes ?? Infinity)
      expect(parseUsage("load\tx\t0\nmemory\t\t\n")).toEqual({})
    }))

  it.scoped("neither runs nor mistakes an odd name", () =>
    Effect.gen(function*() {
      const { home, programs } = yield* stage(hostile.map((name) => [`Up ${name.length} hours`, `HOME/stacks/${name}`]))
      yield* plant(
        home,
        Object.fromEntries(hostile.map((name, index) => [`stacks/${name}/.berth/current`, `r${index}`]))
      )
      const asked = hostile.map((name) => `~/stacks/${name}`)
      const { code, stderr, stdout } = yield* runHere(overviewCommand(asked, false), { shell, home, programs })
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
      const stackAt = parseOverview(stdout, asked)
      for (const [index, path] of asked.entries()) {
        const hours = hostile[index]?.length
        expect(stackAt(path), path).toEqual({
          statuses: [`Up ${hours} hours`],
          names: [`c${index}`],
          ports: [`0.0.0.0:${2000 + index}->80/tcp`],
          release: `r${index}`
        })
      }
      expect((yield* runHere(overviewCommand([], false), { shell, home, programs })).stdout).not.toContain("asked")
    }))

  it.scoped("says where Docker cannot be used", () =>
    Effect.gen(function*() {
      const { home, programs } = yield* stage([], true)
      const exit = yield* runHere(overviewCommand(["~/a"], false), { shell, home, programs })
      expect(exit).toMatchObject({ code: overviewExit.noDocker, stderr: "permission denied\n" })
    }))
})

// A busybox takes its own df, whatever comes first.
describe("the disks of a server", () => {
  it.scoped("are those of the stacks and of Docker, each once, also where Docker cannot be used", () =>
    Effect.gen(function*() {
      const { home, programs } = yield* stage([])
      yield* plant(home, {
        "data": { directory: true },
        "bin/df": `#!/bin/sh
printf 'Filesystem 1024-blocks Used Available Capacity Mounted on\\n'
case $1$2 in
  # A file system without a fixed number of inodes, and one with few left.
  -Pi*/data) printf '/dev/my disk 0 0 0 - /mnt/big 50%% disk\\n' ;;
  -Pi*) printf '/dev/sda1 1000 990 10 99%% /\\n' ;;
  */data) printf '/dev/my disk 2000 500 1500 25%% /mnt/big 50%% disk\\n' ;;
  *) printf '/dev/sda1 1000 300 650 32%% /\\n' ;;
esac
`,
        "bin/docker": `#!/bin/sh\n[ "$1" != info ] || echo "$HOME/data"\n`
      })
      yield* must(() => chmod(join(home, "bin", "df"), 0o755))
      yield* must(() => chmod(join(home, "bin", "docker"), 0o755))
      const own = {
        holds: ["containers"],
        mountedOn: "/",
        totalBytes: 1_024_000,
        freeBytes: 665_600,
        inodes: 1000,
        freeInodes: 10
      }
      const answer = yield* runHere(overviewCommand([], false), { shell: systemShell, home, programs })
      expect(parseDisks(answer.stdout)).toEqual([
        own,
        { holds: ["docker"], mountedOn: "/mnt/big 50% disk", totalBytes: 2_048_000, freeBytes: 1_536_000 }
      ])
      yield* plant(home, { "bin/docker": "#!/bin/sh\nexit 1\n" })
      yield* must(() => chmod(join(home, "bin", "docker"), 0o755))
      const down = yield* runHere(overviewCommand([], false), { shell: systemShell, home, programs })
      expect(down.code).toBe(overviewExit.noDocker)
      expect(parseDisks(down.stdout)).toEqual([own])
    }))

  it("that are told in another way are left out", () => {
    const odd = ["disk\tcontainers\t-\t-\t/", "disk\tother\t1\t1\t/", "disk", `disk\tdocker\t${"9".repeat(40)}\t1\t/`]
    expect(parseDisks(odd.join("\n"))).toEqual([])
    expect(parseDisks("disk\tcontainers\t2\t1\t/\ndisk\tdocker\t2\t1\t/")).toEqual([
      { holds: ["containers", "docker"], mountedOn: "/", totalBytes: 2048, freeBytes: 1024 }
    ])
  })
})
