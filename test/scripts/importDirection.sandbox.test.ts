import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { slow } from "../fixtures/thorough.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

const here = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const using = (...paths: ReadonlyArray<string>) => paths.map((path) => `export * from "${path}"\n`).join("")
const nothing = "export const a = 1\n"

/** Violations that dependency-cruiser reports: the name of the rule, and the file that breaks it. */
const rulesBroken = (tree: { readonly [path: string]: string }) =>
  Effect.gen(function*() {
    const root = yield* temporaryDirectory
    yield* plant(root, tree)
    const { status, stdout } = spawnSync(
      process.execPath,
      [
        here("node_modules/dependency-cruiser/bin/dependency-cruise.mjs"),
        "--config",
        here(".dependency-cruiser.json"),
        "src"
      ],
      { cwd: root, encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } }
    )
    const broken = [...stdout.matchAll(/error ([a-z-]+): (\S+)/g)].map(([, rule, file]) => `${rule} ${file}`)
    return { succeeded: status === 0, broken: broken.toSorted() }
  })

describe("the direction of imports", () => {
  // `npm run lint:deps` checks the sources themselves.
  it.scoped.runIf(slow)(
    "is down: from http to pipelines, remote, services and schema",
    () =>
      Effect.gen(function*() {
        const found = yield* rulesBroken({
          "src/schema/A.ts": nothing,
          "src/services/one/a.ts": using("../../schema/A.ts"),
          "src/services/two/a.ts": using("../one/a.ts"),
          "src/remote/four/a.ts": using("../../services/two/a.ts", "../../schema/A.ts"),
          "src/pipelines/three/a.ts": using("../../services/two/a.ts", "../../remote/four/a.ts"),
          "src/http/a.ts": using("../pipelines/three/a.ts"),
          "src/http/api/A.ts": using("../../schema/A.ts"),
          "src/web/main.tsx": using("../http/api/A.ts", "../schema/A.ts", "./one/a.tsx"),
          "src/web/one/a.tsx": nothing,
          "src/client/a.ts": using("../schema/A.ts", "../http/api/A.ts"),
          "src/client/node/a.ts": using("../a.ts", "../../http/a.ts") + "import \"node:fs\"\n",
          "src/cli/a.ts": using("../client/node/a.ts", "../schema/A.ts", "../serve.ts"),
          "src/serve.ts": using("./http/a.ts"),
          "src/sandbox/a.ts": using("../schema/A.ts"),
          "src/testing/a.ts": using("../services/one/a.ts", "../sandbox/a.ts"),
          "src/library/services.ts": using("../testing/a.ts", "../services/one/a.ts"),
          "src/library/http.ts": using("../serve.ts"),
          "src/main.ts": using("./serve.ts")
        })
        expect(found).toEqual({ succeeded: true, broken: [] })
      })
  )

  it.scoped("is refused everywhere else", () =>
    Effect.gen(function*() {
      const found = yield* rulesBroken({
        "src/schema/A.ts": using("../services/one/a.ts", "./B.ts"),
        "src/schema/B.ts": "import type { a } from \"./A.ts\"\nexport type B = typeof a\n",
        "src/services/one/a.ts": nothing,
        "src/services/one/b.ts": using("../../pipelines/a.ts", "../two/a.ts"),
        "src/services/two/a.ts": nothing,
        "src/services/two/b.ts": using("../one/a.ts"),
        "src/services/two/c.ts": using("../../remote/b.ts"),
        "src/remote/a.ts": using("../pipelines/a.ts", "node:fs"),
        "src/remote/b.ts": nothing,
        "src/pipelines/a.ts": nothing,
        "src/pipelines/b.ts": using("../http/a.ts", "node:fs", "ssh2"),
        "src/http/a.ts": nothing,
        "src/http/b.ts": using("../main.ts"),
        "src/http/c.ts": using("../web/a.ts"),
        "src/web/a.ts": using("../main.ts", "node:fs"),
        "src/client/a.ts": using("../http/a.ts", "node:fs"),
        "src/client/b.ts": using("./node/a.ts", "../services/one/a.ts"),
        "src/client/node/a.ts": using("../../cli/a.ts"),
        "src/cli/a.ts": using("../pipelines/a.ts"),
        "src/library/a.ts": nothing,
        "src/testing/a.ts": using("../pipelines/a.ts"),
        "src/sandbox/a.ts": using("../testing/a.ts"),
        "src/serve.ts": using("./library/a.ts"),
        "src/main.ts": nothing,
        "node_modules/ssh2/package.json": "{ \"name\": \"ssh2\", \"main\": \"index.js\" }",
        "node_modules/ssh2/index.js": "exports.Client = 1\n",
        "package.json": "{ \"dependencies\": { \"ssh2\": \"1\" } }"
      })
      expect(found).toEqual({
        succeeded: false,
        broken: [
          "client-for-browsers src/client/a.ts",
          "client-for-browsers src/client/b.ts",
          "client-for-browsers src/client/b.ts",
          "client-without-node src/client/a.ts",
          "file-cycles src/schema/A.ts",
          "floor-cli src/cli/a.ts",
          "floor-client src/client/node/a.ts",
          "floor-http src/http/b.ts",
          "floor-http src/http/c.ts",
          "floor-pipelines src/pipelines/b.ts",
          "floor-remote src/remote/a.ts",
          "floor-schema src/schema/A.ts",
          "floor-services src/services/one/b.ts",
          "floor-services src/services/two/c.ts",
          "floor-testing src/testing/a.ts",
          "floor-web src/web/a.ts",
          "library-for-scripts-only src/serve.ts",
          "pipelines-without-drivers src/pipelines/b.ts",
          "pipelines-without-node src/pipelines/b.ts",
          "pipelines-without-node src/remote/a.ts",
          "testing-in-library-only src/sandbox/a.ts",
          "web-in-browser-only src/http/c.ts",
          "web-without-node src/web/a.ts"
        ]
      })
    }))
})
