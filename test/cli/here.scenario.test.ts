import { describe, expect, it } from "@effect/vitest"
import * as age from "age-encryption"
import { Effect } from "effect"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { makeWorld } from "../../src/sandbox/world.ts"
import { patience } from "../fixtures/patience.ts"
import { runCli } from "../fixtures/programs/cli.ts"
import { startService } from "../fixtures/programs/service.ts"
import { temporaryDirectory } from "../layers/temporary.ts"

const makeRecipient = Effect.promise(async () => age.identityToRecipient(await age.generateX25519Identity()))

describe.skipIf(process.platform === "win32")("a command in the directory of a project", () => {
  it.scopedLive(
    "is about that project where it names none, and about what the only word is in it",
    () =>
      Effect.gen(function*() {
        const { projects, settingsFile } = yield* makeWorld
        const { url } = yield* startService(settingsFile)
        const outside = yield* temporaryDirectory
        const project = join(projects, "hello")
        const compose = join(project, "compose.yml")
        yield* Effect.promise(async () =>
          writeFile(compose, (await readFile(compose, "utf8")).replace(/^ {2}hello:$/m, "  web:"))
        )
        const [first, second, third] = [yield* makeRecipient, yield* makeRecipient, yield* makeRecipient]
        const before = process.cwd()
        yield* Effect.addFinalizer(() => Effect.sync(() => process.chdir(before)))
        const run = (directory: string, line: string) =>
          Effect.suspend(() => {
            process.chdir(directory)
            return runCli({ url }, line.split(" "), { secret: "s3cret-value" })
          })
        const here = (line: string) => run(project, line)
        // Its image is built from a directory of its name.
        yield* Effect.promise(async () => {
          await mkdir(join(project, "web"))
          await writeFile(join(project, "web", "Dockerfile"), "FROM scratch\n")
        })
        expect(yield* here("deploy --yes")).toMatchObject({ code: 0 })

        const whole = yield* here("logs")
        expect(whole).toMatchObject({ code: 0 })
        expect(yield* here("logs web")).toEqual(whole)
        expect(yield* here("logs web -f --until 0s")).toMatchObject({ code: 0 })
        // The container of a service that does not exist is followed as well as read.
        expect(yield* here("logs greeter -f --until 0s")).toMatchObject({ code: 0 })
        expect((yield* here("logs greeter")).code).toBe(0)
        expect(yield* here("logs nobody")).toMatchObject({
          code: 1,
          err: expect.stringMatching(/No project is named "nobody" either, and no service of the project here\n$/)
        })
        expect((yield* run(outside, "logs web")).err).toMatch(/No project is named "web" either\n$/)

        expect(yield* here("restore 12 --dry-run")).toMatchObject({
          code: 1,
          err: expect.stringContaining("There is no backup \"12\" in ~/containers/hello on \"Sandbox\"")
        })
        expect((yield* here("restore hello")).err).toContain("berth restore needs <backup>")
        expect((yield* run(outside, "restore 12")).err).toContain("No project is named \"12\"")

        const added = yield* here(`secrets recipients add ${first} ${second} --json`)
        expect(JSON.parse(added.out)).toMatchObject({ recipients: [first, second] })
        const more = yield* run(outside, `secrets recipients add hello ${third} --json`)
        expect(JSON.parse(more.out)).toMatchObject({ recipients: [first, second, third] })
        expect(yield* here(`secrets recipients remove ${second}`)).toMatchObject({ code: 0 })
        expect((yield* here("secrets set NAME")).err).toContain("NAME")
        expect((yield* run(outside, `secrets recipients add ${first}`)).code).toBe(64)

        // Directories that are to become a project, and places on the server, need none.
        expect((yield* run(outside, "init --dry-run")).code).toBe(0)
        expect((yield* run(outside, "ps")).code).toBe(0)
        expect((yield* run(outside, "logs --path ~/containers/hello")).out).toBe(whole.out)
        expect(yield* run(outside, "restart --yes")).toMatchObject({
          code: 64,
          err: expect.stringMatching(/^Error: No project is named, and .* is none: /)
        })
      }),
    120_000 * patience
  )
})
