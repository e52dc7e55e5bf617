import { describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { randomBytes } from "node:crypto"
import { readFile, stat, symlink } from "node:fs/promises"
import { join } from "node:path"
import { parseReceived, uploadCommand } from "../../src/remote/deploy.ts"
import { sha256 } from "../fixtures/docker/tar.ts"
import { runHere, shells } from "../layers/RemoteHere.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

describe.each(shells)("uploading in $name", (shell) => {
  it.scoped("stores its input and answers what arrived", () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      const content = randomBytes(1_000_000)
      const command = uploadCommand("~/containers/a b", "conf/it's", "600")
      const exit = yield* runHere({ ...command, stdin: content }, { shell, home })
      expect(exit).toMatchObject({ code: 0, stderr: "" })
      expect(parseReceived(exit.stdout)).toEqual(Option.some({ bytes: content.length, sha256: sha256(content) }))
      const file = join(home, "containers", "a b", ".berth", "incoming", "conf", "it's")
      expect((yield* Effect.promise(() => readFile(file))).equals(content)).toBe(true)
      expect((yield* Effect.promise(() => stat(file))).mode & 0o777).toBe(0o600)
    }))

  it.scoped("fails in the words of the system when the disk is full", () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      yield* plant(home, { "app/.berth/incoming": { directory: true } })
      yield* Effect.promise(() => symlink("/dev/full", join(home, "app", ".berth", "incoming", "x.tar")))
      const command = uploadCommand("~/app", "x.tar", "644")
      const exit = yield* runHere({ ...command, stdin: randomBytes(200_000) }, { shell, home })
      expect(exit.code).toBe(1)
      // Busybox does not say why.
      expect(exit.stderr).toMatch(/(No space left on device|I\/O error)\n\d+ KiB are free there/)
    }))
})

describe("parseReceived", () => {
  it("takes the answers of sha256sum and of openssl", () => {
    const hash = "0".repeat(64)
    const expected = Option.some({ bytes: 5, sha256: hash })
    expect(parseReceived(`5\n${hash}  -\n`)).toEqual(expected)
    expect(parseReceived(`5\n${hash} *stdin\n`)).toEqual(expected)
    expect(parseReceived("5\n")).toEqual(Option.none())
  })
})
