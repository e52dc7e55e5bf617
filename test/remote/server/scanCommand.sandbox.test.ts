import { describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { composeFileLimit, parseScan, scanCommand } from "../../../src/remote/server.ts"
import { runHere, shells } from "../../layers/RemoteHere.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

describe.each(shells)("scan in $name", (shell) => {
  const scanned = (home: string) =>
    Effect.map(runHere(scanCommand, { shell, home }), ({ code, stderr, stdout }) => {
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
      return Option.getOrThrow(parseScan(stdout))
    })

  it.scoped("tells what each directory holds", () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      yield* plant(home, {
        "containers/web/compose.yml": "services: {}\n",
        "containers/web/.env": "A=1",
        "containers/web/data": { directory: true },
        "containers/web/b.tar": "",
        "containers/web/a.tar": "",
        "containers/old/docker-compose.yaml": "services:\n\n  ü: {}\n\n",
        "containers/empty": { directory: true },
        "containers/a file": "no directory",
        "containers/link": { link: "web" },
        "containers/.berth": { directory: true }
      })
      const nothing = { hasComposeFile: false, hasEnv: false, hasData: false, tarFile: null, composeFileContent: null }
      expect(yield* scanned(home)).toEqual([
        { ...nothing, name: "empty", remotePath: "~/containers/empty" },
        {
          ...nothing,
          name: "old",
          remotePath: "~/containers/old",
          hasComposeFile: true,
          composeFileContent: "services:\n\n  ü: {}\n\n"
        },
        {
          name: "web",
          remotePath: "~/containers/web",
          hasComposeFile: true,
          hasEnv: true,
          hasData: true,
          tarFile: "a.tar",
          composeFileContent: "services: {}\n"
        }
      ])
    }))

  it.scoped("neither runs nor loses an odd name", () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      const names = [
        "$(touch RAN)",
        "`touch RAN`",
        "'; touch RAN; '",
        "\"; touch RAN; \"",
        "two words",
        " edge ",
        "line\nbreak",
        "last\n",
        "-n",
        "--help",
        "!",
        "(",
        "-f",
        ".hidden",
        "..odd",
        "*",
        "?",
        "[a]",
        "back\\slash",
        "tab\t",
        "ünï",
        "%s",
        "$HOME",
        "~"
      ]
      yield* plant(home, {
        ...Object.fromEntries(names.map((name) => [`containers/${name}/compose.yml`, `# ${name}`])),
        ...Object.fromEntries(names.map((name) => [`containers/${name}/${name}.tar`, ""]))
      })
      const projects = yield* scanned(home)
      expect(projects.map(({ name }) => name).sort()).toEqual(names.toSorted())
      for (const { composeFileContent, name, tarFile } of projects) {
        // The pattern for archives does not match names with a leading dot.
        expect({ name, tarFile }).toEqual({ name, tarFile: name.startsWith(".") ? null : `${name}.tar` })
        expect(composeFileContent).toBe(`# ${name}`)
      }
      const ran = yield* runHere({ what: "looking", script: "find . -name 'RAN'", args: [], sudo: false }, {
        shell,
        home
      })
      expect(ran.stdout).toBe("")
    }))

  it.scoped("has nothing to tell where there is no ~/containers", () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      expect(yield* scanned(home)).toEqual([])
      yield* plant(home, { "containers": { directory: true } })
      expect(yield* scanned(home)).toEqual([])
    }))

  it.scoped("fails where ~/containers is not a directory", () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      yield* plant(home, { containers: "a file" })
      const { code, stderr } = yield* runHere(scanCommand, { shell, home })
      expect(code).not.toBe(0)
      expect(stderr).toContain("containers")
    }))

  it.scoped("bounds a compose file and keeps NULs in it from posing as records", () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      yield* plant(home, {
        "containers/a/compose.yml": "x".repeat(composeFileLimit + 10),
        "containers/b/compose.yml": "a\0b\0c\0d\0e\0f\0g\0"
      })
      expect((yield* scanned(home)).map(({ composeFileContent, name }) => [name, composeFileContent?.length])).toEqual([
        ["a", composeFileLimit],
        ["b", 7]
      ])
    }))
})

describe("parseScan", () => {
  it("does not read an answer whose beginning is lost", () => {
    expect(parseScan("web\0compose.yml\0\0\0\0services: {}\0")).toEqual(Option.none())
  })
})

it("reads ten thousand directories, and none that leads out of ~/containers", () => {
  const directory = "a\0\0\0\0\0\0"
  expect(Option.map(parseScan(`berth-scan\0${directory.repeat(10_000)}`), ({ length }) => length)).toEqual(
    Option.some(10_000)
  )
  const odd = ["", ".", "..", "../..", "a/b"].map((name) => `${name}\0\0\0\0\0\0`).join("")
  expect(parseScan(`berth-scan\0${odd}`)).toEqual(Option.some([]))
})
