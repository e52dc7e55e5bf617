import { Path } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { readProxy } from "../../../../src/pipelines/routes/proxyText.ts"
import { readRoutes } from "../../../../src/pipelines/routes/queryProxy.ts"
import { addRoute, listRoutes } from "../../../../src/pipelines/routes/routes.ts"
import type { ServerAccess } from "../../../../src/schema/ssh.ts"
import { localFilesTest } from "../../../../src/testing/LocalFilesTest.ts"
import { locksTest } from "../../../../src/testing/RunsTest.ts"
import { settingsTest } from "../../../../src/testing/SettingsTest.ts"
import { proxyFileTest } from "../../../../src/testing/SshTest.ts"
import { plainFile } from "../proxyFiles.ts"

const file = "/etc/proxy/berth.yml"
const server: ServerAccess = {
  id: "1",
  name: "Main",
  host: "10.0.0.1",
  port: 22,
  username: "deployer",
  useSudo: false,
  credentials: {}
}

const routesIn = (text: string) => readRoutes(Option.getOrThrow(Option.getRight(readProxy(text))))
const byHand = plainFile.replace(
  "      service: blog\n      tls:",
  "      priority: 3\n      service: blog\n      tls:"
)

describe("the routes of a proxy file", () => {
  it("are each told with what it asks for, where it leads and who wrote it", () => {
    expect(routesIn(plainFile)).toEqual([{
      routeName: "blog",
      domains: ["blog.example.com"],
      rule: "Host(`blog.example.com`)",
      targets: ["192.168.1.20:2010"],
      redirects: true,
      missingMiddlewares: [],
      madeBy: "berth"
    }])
  })

  it.each([
    ["another key in a router", byHand],
    ["no router for plain http", plainFile.replace("    blog-http:", "    blog-plain:")],
    ["a second server", `${plainFile}          - url: "http://192.168.1.21:2010"\n`],
    ["a target that is not an address and a port", plainFile.replace("http://192.168.1.20:2010", "http://web")]
  ])("are another's with %s", (_, text) => {
    expect(routesIn(text)[0]).toMatchObject({ routeName: "blog", madeBy: "other" })
  })

  it("say which middlewares are not there, and cut a rule that is too long", () => {
    const long = "PathPrefix(`/" + "a".repeat(2_000) + "`)"
    const text = plainFile.replace("    redirect-to-https:", "    auth:").replace(
      "rule: \"Host(`blog.example.com`)\"",
      `rule: "${long}"`
    )
    const [blog] = routesIn(text)
    expect(blog).toMatchObject({ domains: [], missingMiddlewares: ["redirect-to-https"], madeBy: "other" })
    expect(blog?.rule.length).toBe(301)
  })

  it("are none in a file without sections", () => {
    expect(routesIn("# nothing yet\n")).toEqual([])
    expect(routesIn("http:\n  routers: {}\n  services: 7\n")).toEqual([])
  })
})

describe("the list of routes", () => {
  const declared = JSON.stringify([{ name: "blog", domain: "Blog.example.com" }, { name: "other" }])
  const world = (text: string) =>
    Layer.mergeAll(
      locksTest,
      Path.layer,
      settingsTest(
        { "proxy.configFile": file, "proxy.targetIp": "10.0.0.5", "projects.root": "/projects" },
        [server]
      ),
      proxyFileTest(file, text),
      localFilesTest({ "/projects/blog/platform.json": declared, "/projects/odd/platform.json": "{" })
    )

  it.effect("has the file's place, the applications that declare a domain, and what could not be read", () =>
    Effect.gen(function*() {
      yield* addRoute({ routeName: "shop", domain: "shop.example.com", port: 2011 })
      expect(yield* listRoutes).toMatchObject({
        file,
        serverId: "1",
        serverName: "Main",
        observedAt: "1970-01-01T00:00:00.000Z",
        routes: [
          { routeName: "blog", madeBy: "berth", applications: [{ appName: "blog", projectPath: "/projects/blog" }] },
          { routeName: "shop", madeBy: "berth", targets: ["10.0.0.5:2011"], applications: [] }
        ],
        warnings: [expect.stringContaining("/projects/odd/platform.json")]
      })
    }).pipe(Effect.provide(world(plainFile))))

  it.effect("is empty for an empty file, and refused for one that is not YAML", () =>
    Effect.gen(function*() {
      expect((yield* Effect.provide(listRoutes, world(""))).routes).toEqual([])
      const refusal = yield* Effect.flip(Effect.provide(listRoutes, world("http: [")))
      expect(refusal).toMatchObject({ status: 500 })
      expect(refusal.message).toContain(`${file}:1 on "Main" was left as it is`)
    }))
})
