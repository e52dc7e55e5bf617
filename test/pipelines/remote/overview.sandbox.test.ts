import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmod, symlink } from "node:fs/promises"
import { join } from "node:path"
import { overviewCommand, overviewExit, parseOverview } from "../../../src/pipelines/remote/overview.ts"
import { runHere, shells } from "../../layers/RemoteHere.ts"
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
    const lines = containers.map(([status, directory]) => `container\t${status}\t${at(directory)}\n`).join("")
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
        ["Up 9 hours", ""]
      ])
      yield* plant(home, {
        "containers/web/.berth/current": "20260102-aa\n",
        "containers/other/.berth/releases/20260103-bb/compose.yml": "",
        "containers/evil/.berth/current": "$(touch RAN) x\n",
        "containers/quiet": { directory: true },
        "real": { directory: true }
      })
      yield* must(() => symlink("releases/20260103-bb", join(home, "containers/other/.berth/current")))
      yield* must(() => symlink("../real", join(home, "containers/linked")))
      const asked = ["~/containers/web", "~/containers/linked", "~/containers/none", "~/containers/evil"]
      const exit = yield* runHere(overviewCommand(asked, false), { shell, home, programs })
      expect({ code: exit.code, stderr: exit.stderr }).toEqual({ code: 0, stderr: "" })
      const stackAt = parseOverview(exit.stdout, asked)
      expect(stackAt("~/containers/web")).toEqual({
        statuses: ["Up 3 hours", "Exited (1) 2 days ago"],
        release: "20260102-aa"
      })
      expect(stackAt("~/containers/linked")).toEqual({ statuses: ["Up 1 hour"], release: null })
      // It was not asked for.
      expect(stackAt("~/containers/other")).toEqual({ statuses: ["Up 2 hours"], release: "20260103-bb" })
      for (const path of ["~/containers/none", "~/containers/evil", "~/containers/quiet", "/etc"]) {
        expect(stackAt(path)).toEqual({ statuses: [], release: null })
      }
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
        expect(stackAt(path), path).toEqual({ statuses: [`Up ${hours} hours`], release: `r${index}` })
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
