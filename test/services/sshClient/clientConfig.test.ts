import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { matchesPattern, readSshHost } from "../../../src/services/sshClient/clientConfig.ts"
import { temporaryDirectory } from "../../layers/temporary.ts"

const reading = (files: Readonly<Record<string, string>>, host: string) =>
  Effect.gen(function*() {
    const home = yield* temporaryDirectory
    const directory = join(home, ".ssh")
    mkdirSync(join(directory, "config.d"), { recursive: true })
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text, { mode: 0o600 })
    const found = yield* readSshHost({ home, directory, user: "me" }, host)
    return {
      ...found,
      said: Object.fromEntries([...found.values].map(([name, { value }]) => [name, value])),
      directory
    }
  })

const config = `
User everybody # of hosts that say nothing before
Include config.d/*.conf
Host main main-*  !main-old
  HostName = main.example.com
  Port 2222
  IdentityFile "~/.ssh/id one"
  IdentityFile ~/.ssh/two
Host main
  Port 1
  ProxyJump bastion
Match exec "touch /tmp/never" 
  HostName evil.example.com
Match originalhost main-a,other
  ProxyCommand nc %h %p
Host *
  Port 99
`

describe("sshHost", () => {
  it.scoped.each(
    [
      ["main", { user: "everybody", hostname: "main.example.com", port: "2222", proxyjump: "bastion" }, true],
      ["main-a", { user: "everybody", hostname: "main.example.com", port: "2222", proxycommand: "nc %h %p" }, true],
      ["main-old", { user: "everybody", port: "99" }, false],
      ["attic", { user: "everybody", hostname: "attic.example.com", port: "7" }, true],
      ["unknown", { user: "everybody", port: "99" }, false]
    ] as const
  )("of %s", ([host, said, isNamed]) =>
    Effect.gen(function*() {
      const found = yield* reading({
        config,
        "config.d/a.conf": "Host attic\n\tHostName attic.example.com\n\tPort 7\n",
        "config.d/b.txt": "Port 8\n"
      }, host)
      expect(found.said).toEqual(said)
      expect(found.isNamed).toBe(isNamed)
      if (host === "main") {
        expect(found.identityFiles.map(({ value }) => value)).toEqual(["~/.ssh/id one", "~/.ssh/two"])
        expect(found.values.get("port")).toMatchObject({ line: 6, file: join(found.directory, "config") })
      }
    }))

  it.scoped("holds what is included to the section that it stands in, and ends where files include each other", () =>
    Effect.gen(function*() {
      const files = {
        config: "Host a\n  Include more\nHost *\n  Port 2\n",
        more: "Port 1\nHost b\n  User b\nInclude config\n"
      }
      expect((yield* reading(files, "a")).said).toEqual({ port: "1" })
      expect((yield* reading(files, "b")).said).toEqual({ port: "2" })
      expect((yield* reading({ config: "Include config\nInclude config\nPort 3\n" }, "b")).said).toEqual({ port: "3" })
    }))

  it.scoped.skipIf(process.platform === "win32")(
    "leaves out a file that others may change, or that is too long",
    () =>
      Effect.gen(function*() {
        const home = yield* temporaryDirectory
        const file = join(home, "config")
        writeFileSync(file, "Port 1\n")
        chmodSync(file, 0o666)
        expect(yield* readSshHost({ home, directory: home, user: "me" }, "a")).toMatchObject({
          unread: [expect.stringContaining("others may change it")]
        })
        writeFileSync(file, "#".repeat(2_000_000))
        chmodSync(file, 0o600)
        expect(yield* readSshHost({ home, directory: home, user: "me" }, "a")).toMatchObject({
          unread: [expect.stringContaining("larger than 1 MiB")]
        })
      })
  )

  it.scoped("ends soon, whatever the file says", () =>
    Effect.gen(function*() {
      const word = FastCheck.constantFrom(
        "Host",
        "Match",
        "Include",
        "*",
        "!",
        "\"",
        "=",
        "#",
        "all",
        "a",
        "config",
        "\n",
        " ",
        "\0"
      )
      for (const words of FastCheck.sample(FastCheck.array(word, { maxLength: 60 }), 100)) {
        expect((yield* reading({ config: words.join(" ") }, "a")).unread.length).toBeLessThan(5_000)
      }
      const started = performance.now()
      yield* reading({ config: `Host ${"*a".repeat(2_000)}b\nPort 1\n`.repeat(100) }, "a".repeat(253))
      expect(performance.now() - started).toBeLessThan(2_000)
    }), 20_000)
})

describe("matchesPattern", () => {
  it("is what the regular expression says", () => {
    const letters = FastCheck.array(FastCheck.constantFrom("a", "b", "*", "?"), { maxLength: 8 }).map((all) =>
      all.join("")
    )
    FastCheck.assert(FastCheck.property(letters, letters, (text, pattern) => {
      const expected = new RegExp(`^${pattern.replaceAll("*", "[^]*").replaceAll("?", "[^]")}$`)
      expect(matchesPattern(text, pattern)).toBe(expected.test(text))
    }))
  })
})
