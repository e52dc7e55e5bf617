import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { build } from "esbuild"
import { readdirSync, readFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { emptyDirectory, ended, isOffline, npmInstall, packInto, root } from "../fixtures/packed.ts"

const consumer = `import { Effect } from "effect"
import { Berth, type BerthError, inProcess, overHttp } from "berth"
import { layer, type RunEvent } from "berth/client"
import { deploy } from "berth/pipelines/deploy/deploy"

const servers: Effect.Effect<ReadonlyArray<string>, BerthError, Berth> = Effect.gen(function*() {
  const berth = yield* Berth
  const all = yield* berth.use((api) => api.listServers({}))
  return all.map(({ id }) => id)
})
const heard = (event: RunEvent) => Effect.log(event.event)
const program = Effect.gen(function*() {
  const berth = yield* Berth
  const payload = { projectPath: "/p", serverId: "1", remotePath: "~/x" }
  const result = yield* berth.run((api) => api.deploy({ payload }), heard)
  const healthy: boolean = result.healthy
  // @ts-expect-error: there is no such endpoint
  berth.use((api) => api.nothing({}))
  return [healthy, yield* servers] as const
})
export const central = program.pipe(Effect.provide(overHttp({ url: "http://127.0.0.1:3100" })))
export const alone = program.pipe(Effect.provide(inProcess("/berth.yaml")))
export const others = [layer, deploy]
`

const settings = {
  compilerOptions: {
    target: "ES2022",
    module: "NodeNext",
    moduleResolution: "NodeNext",
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true,
    types: []
  },
  files: ["consumer.ts"]
}

// Imports each of the modules, and prints how each import ended.
const importAll = `const answers = []
for (const name of process.argv.slice(2)) {
  answers.push(await import(name).then(
    (module) => ({ name, names: Object.keys(module) }),
    ({ message, stack }) => ({ name, message, stack })
  ))
}
console.log(JSON.stringify(answers))
`

interface Imported {
  readonly name: string
  readonly names?: ReadonlyArray<string>
  readonly message?: string
  readonly stack?: string
}

/** Every module of the package that can be imported. */
const modules = () => [
  "berth",
  "berth/client",
  ...["schema", "services", "pipelines", "http"].flatMap((folder) =>
    readdirSync(join(root, "dist", folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".js"))
      .map((file) => `berth/${folder}/${file.slice(0, -3)}`)
  )
]

const imported = (directory: string) =>
  Effect.map(ended(process.execPath, ["import.mjs", ...modules()], directory), ({ err, out }) => {
    expect(err).toBe("")
    return JSON.parse(out) as ReadonlyArray<Imported>
  })

it.scopedLive.skipIf(process.platform === "win32")(
  "the library says in words which packages it needs, and works with them (needs the npm registry)",
  (context) =>
    Effect.gen(function*() {
      const directory = yield* emptyDirectory
      const tarball = yield* packInto(directory)
      const write = (name: string, text: string) => Effect.promise(() => writeFile(join(directory, name), text))
      yield* write("package.json", "{ \"type\": \"module\", \"private\": true }")
      yield* write("import.mjs", importAll)
      if (!(yield* npmInstall(directory, "--ignore-scripts", tarball))) {
        return context.skip("The npm registry cannot be reached")
      }

      const lacking = yield* imported(directory)
      expect(lacking.length).toBeGreaterThan(500)
      const refused = lacking.filter(({ message }) => message !== undefined)
      expect(refused.length).toBeGreaterThan(400)
      for (const { message, name, stack } of refused) {
        expect(message).toContain(`Cannot import "${name}": the library needs `)
        expect(stack).toBe(`Error: ${message}`)
      }
      const [whole, client] = lacking
      expect(client?.message).toBe(
        "Cannot import \"berth/client\": the library needs @effect/platform, effect, which are not installed. " +
          "Next to berth, run: npm install \"@effect/platform@^0.97.2\" \"effect@^3.22.4\""
      )

      // The command in the message makes every module work.
      const wanted = [...(whole?.message ?? "").matchAll(/"([^" ]+@\^[^"]+)"/g)].map(([, name = ""]) => name)
      expect(yield* npmInstall(directory, "--ignore-scripts", ...wanted)).toBe(true)
      const [all, ...others] = yield* imported(directory)
      expect(others.filter(({ message }) => message !== undefined)).toEqual([])
      expect(all?.names).toEqual(expect.arrayContaining(["Berth", "connect", "inProcess", "overHttp", "version"]))

      yield* write("consumer.ts", consumer)
      yield* write("tsconfig.json", JSON.stringify(settings))
      const tsc = join(root, "node_modules/typescript/bin/tsc")
      expect(yield* ended(process.execPath, [tsc, "-p", "."], directory)).toMatchObject({ code: 0, out: "" })

      // The check is for Node alone: a bundler has words of its own, and formats that cannot wait for an import.
      yield* write("page.js", "import { layer } from \"berth/client\"\nconsole.log(layer)\n")
      const packed = yield* Effect.promise(() =>
        build({ entryPoints: [join(directory, "page.js")], bundle: true, format: "iife", write: false })
      )
      expect(packed.outputFiles[0]?.text).not.toContain("Next to berth, run")
    }),
  600_000
)

it.scopedLive.skipIf(process.platform === "win32")(
  "the command of docs/scripts.md installs the library as it stands (needs the npm registry)",
  (context) =>
    Effect.gen(function*() {
      const directory = yield* emptyDirectory
      yield* packInto(directory)
      const [, command = ""] = /^(npm install \.\/.*)$/m.exec(readFileSync(join(root, "docs/scripts.md"), "utf8")) ?? []
      const { code, err } = yield* ended("sh", ["-c", command], directory)
      if (code !== 0 && isOffline(err)) return context.skip("The npm registry cannot be reached")
      expect(code, err).toBe(0)
      yield* Effect.promise(() => writeFile(join(directory, "import.mjs"), importAll))
      const { out } = yield* ended(
        process.execPath,
        ["import.mjs", "berth", "berth/pipelines/deploy/deploy"],
        directory
      )
      expect(JSON.parse(out)).toMatchObject([{ names: expect.arrayContaining(["Berth"]) }, { names: ["deploy"] }])
    }),
  600_000
)
