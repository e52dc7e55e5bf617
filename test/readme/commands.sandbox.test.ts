import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import packageJson from "../../package.json" with { type: "json" }
import { makeWorld, type World } from "../../src/sandbox/world.ts"
import { patience } from "../fixtures/patience.ts"
import { runCli } from "../fixtures/programs/cli.ts"
import { startService } from "../fixtures/programs/service.ts"
import { slow } from "../fixtures/thorough.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

const pages = ["README.md", ...readdirSync("docs").filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`)]
const textOf = (page: string) => readFileSync(page, "utf8")
const blocksOf = (page: string) => [...textOf(page).matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = ""]) => block)

// Commands for a server of the reader's own; firstDeploy.real.test.ts tries them on a real one.
const isForReaders = (block: string) => block.includes("main.example.com")

/** The commands of a page that talk to the service, in their order: what a reader runs from top to bottom. */
const requestsOf = (page: string) => blocksOf(page).filter((block) => block.includes("curl ")).join("\n")
/** Each other command, without what follows it as a comment. */
const othersOf = (page: string) =>
  blocksOf(page).filter((block) => !block.includes("curl ") && !isForReaders(block)).flatMap((block) =>
    block.split("\n")
  )
    .map((line) => line.replace(/ +#.*/, "")).filter((line) => line !== "")

/** The commands of a page that a terminal takes and that end by themselves. */
const berthOf = (page: string) =>
  othersOf(page).filter((line) => /^berth\b/.test(line) && !/^berth (serve|sandbox|open|mcp)/.test(line))

// Those of one page in a part of the run.
const tried = slow ? pages : ["README.md"]
// The sandbox has no containers with data; test/pipelines/backups runs these commands' programs.
const withoutData = (page: string) => page !== "docs/backups.md"

/** The project of docs/environments.md as its `container.json` there says, and what runs of it by the time of its commands. */
const makeShop = ({ projects, serverId }: World, url: string) =>
  Effect.gen(function*() {
    const [, config = ""] = /^```json\n([\s\S]*?)^```/m.exec(textOf("docs/environments.md")) ?? []
    const service = (name: string) => `services:\n  ${name}:\n    image: hello:latest\n`
    cpSync(join(projects, "hello"), join(projects, "shop"), { recursive: true })
    yield* plant(join(projects, "shop"), {
      // The sandbox's stand-in for Docker takes one compose file.
      "container.json": config.replace("\"compose.yml\", \"staging", "\"staging").replaceAll(
        /"web-\d"/g,
        JSON.stringify(serverId)
      ),
      "compose.yml": service("web"),
      "staging.yml": service("helper"),
      ".env.production": ""
    })
    const { code, err } = yield* runCli({ url }, ["deploy", "shop", "--env", "production", "--confirm", "production"])
    expect(code, err).toBe(0)
  })

// Programs that may be missing on the machine that the tests run on; then the reply names them.
const needsProgram = /container\/(build|editor-diff)/

const hasCurl = spawnSync("curl", ["--version"]).status === 0

// In place of curl: the same, which also takes down each request with its status and its answer.
const noted = String.raw`
curl() {
  answer=$(command curl -sS -w '\n%{http_code}' "$@")
  printf '%s\n' "$answer" | sed '$d'
  printf '%s\t%s\t%s\n' "$(printf '%s\n' "$answer" | tail -n 1)" "$*" "$(printf '%s\n' "$answer" | sed '$d' | tr '\n\t' '  ')" >>"$CALLS"
}
`

const shell = (script: string, env: Record<string, string>) =>
  Effect.async<string>((resume) => {
    execFile("sh", ["-c", noted + script], { env: { ...process.env, ...env }, maxBuffer: 1 << 26 }, (_, out, err) =>
      resume(Effect.succeed(out + err)))
  })

describe.skipIf(!hasCurl)(
  `the commands of the documentation${hasCurl ? "" : " (needs curl)"}`,
  { timeout: 180_000 * patience },
  () => {
    it.scopedLive.each(tried.filter((page) => requestsOf(page) !== ""))(
      "%s works against the sandbox as it stands, from top to bottom",
      (page) =>
        Effect.gen(function*() {
          const world = yield* makeWorld
          const service = yield* startService(world.settingsFile)
          const calls = join(yield* temporaryDirectory, "calls")
          const output = yield* shell(requestsOf(page), { BERTH: service.url, PROJECTS: world.projects, CALLS: calls })
          const made = existsSync(calls) ? readFileSync(calls, "utf8").trimEnd().split("\n") : []
          expect(made.length, output).toBe(requestsOf(page).split("curl ").length - 1)
          for (const call of made) {
            const [status, command = "", reply = ""] = call.split("\t")
            if (needsProgram.test(command)) expect(reply, call).toMatch(/success|Cannot run|no build-image-tar/)
            else {
              expect(status, call).toBe("200")
              if (command.includes("/api/metrics")) expect(reply, call).toMatch(/^# HELP berth_/)
              else expect(JSON.parse(reply), call).not.toHaveProperty("error")
            }
          }
        }).pipe(Effect.provide(NodeContext.layer))
    )
  }
)

describe.skipIf(process.platform === "win32")("the commands of berth in the documentation", () => {
  it.scopedLive.each(tried.filter((page) => withoutData(page) && berthOf(page).length > 0))(
    "%s: work against the sandbox as they stand, from top to bottom",
    (page) =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        const { url } = yield* startService(world.settingsFile)
        if (page === "docs/environments.md") yield* makeShop(world, url)
        for (const line of berthOf(page)) {
          const { code, err } = yield* runCli({ url }, line.split(" ").slice(1))
          // Comparisons exit with 2 on a difference.
          expect([0, /diff|drift|dry-run/.test(line) ? 2 : 0], `${line}: ${err}`).toContain(code)
        }
      }).pipe(Effect.provide(NodeContext.layer)),
    120_000 * patience
  )
})

describe("the documentation", () => {
  it("has a command for every group of endpoints", () => {
    expect(requestsOf("docs/endpoints.md").split("curl ").length).toBeGreaterThan(30)
    expect(requestsOf("README.md").split("curl ").length).toBeGreaterThan(3)
  })

  it.each(pages)("%s names scripts and files that exist", (page) => {
    for (const line of othersOf(page)) {
      if (line.startsWith("berth")) continue
      const [, installed] = /^(?:npm pack && )?npm install (.*)$/.exec(line) ?? []
      if (installed !== undefined) {
        const { version } = packageJson
        expect([`--global ./berth-${version}.tgz`, `./berth-pipelines-${version}.tgz`], line).toContain(installed)
        continue
      }
      if (/^npm pack(?: && npm pack \.\/dist\/berth-pipelines)?$/.test(line)) continue
      const [, script, file] = /^(?:\w+=\S+ )*(?:npm (?:run )?([\w:]+)(?: -- .*)?|npx tsx (\S+)(?: .*)?)$/.exec(line) ??
        []
      expect(script ?? file, `${line}: run it in this test`).toBeDefined()
      if (script !== undefined) expect(Object.keys(packageJson.scripts), line).toContain(script)
      if (file !== undefined) expect(existsSync(file), line).toBe(true)
    }
    for (const [, link = ""] of textOf(page).matchAll(/\]\(([^)#]+)[^)]*\)/g)) {
      if (!link.startsWith("http")) expect(existsSync(join(dirname(page), link)), link).toBe(true)
    }
  })

  it("names no address of a real network", () => {
    for (const page of [...pages, "SECURITY.md"]) {
      expect(textOf(page), page).not.toMatch(/\b(192\.168|10\.\d+|172\.(1[6-9]|2\d|3[01]))\.\d/)
    }
  })

  it("begins with the two commands that a clone needs, and has the command line before the endpoints", () => {
    const [start = ""] = blocksOf("README.md")
    expect(start.split("\n").map((line) => line.replace(/ +#.*/, ""))).toEqual(
      ["npm start", "npm run sandbox", "npm test", ""]
    )
    const text = textOf("README.md")
    expect(text.indexOf("berth deploy")).toBeLessThan(text.indexOf("curl "))
  })

  it("says in the README at most what fits on one screen and a half", () => {
    expect(textOf("README.md").split("\n").length).toBeLessThan(90)
  })
})
