import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { formatDockerBuild } from "../../../src/pipelines/build/buildImages.ts"
import { readComposeFile } from "../../../src/pipelines/projects/compose.ts"
import { type BuildOptions, findBuildSections } from "../../../src/pipelines/projects/composeBuilds.ts"
import { findComposeProjectName } from "../../../src/pipelines/projects/stackNames.ts"
import { listPrograms, requireTrust } from "../../../src/pipelines/projects/trust.ts"
import { CurrentCaller } from "../../../src/services/access/Caller.ts"
import { LocalFiles } from "../../../src/services/local/LocalFiles.ts"
import { formatTrustedName, ProjectTrust } from "../../../src/services/ProjectTrust.ts"
import { memoryWorld } from "../../layers/worlds/memoryWorld.ts"

const directory = "/srv/shop"
const world = (compose: string, config: object = {}) =>
  memoryWorld({
    files: {
      [`${directory}/compose.yml`]: compose,
      [`${directory}/container.json`]: JSON.stringify(config),
      [`${directory}/.env`]: "TOKEN=abc def\nDIR=web\n",
      [`${directory}/web/Dockerfile`]: "FROM scratch",
      "/srv/common/Dockerfile": "FROM scratch"
    }
  })
const sectionsOf = (compose: string, config: object = {}) =>
  findBuildSections(directory).pipe(
    Effect.map(({ sections }) => sections),
    Effect.provide(world(compose, config))
  )
const refusalOf = (build: string, config: object = {}) =>
  findBuildSections(directory).pipe(
    Effect.flip,
    Effect.map(({ message }) => message),
    Effect.provide(world(`services:\n  web:\n    build:\n${build}\n`, config))
  )

const sharing = `
services:
  web:
    build: { context: ./web/, args: { TOKEN: "\${TOKEN}", EMPTY: , TAG: 1.5 } }
  worker:
    build: { context: $DIR, args: ["TOKEN=abc def", "TAG=1.5"] }
  other:
    build: { context: web, target: app }
  debug:
    build: web
    profiles: [debug]
  db: { image: postgres }
`

describe("the options of one build", () => {
  const found = (options: BuildOptions) =>
    findBuildSections(directory, undefined, options).pipe(Effect.provide(world(sharing)))

  it.effect("choose the section of a service, whoever shares it", () =>
    Effect.gen(function*() {
      const { others, sections } = yield* found({ service: "worker" })
      expect([sections, others].map((some) => some.map(({ services }) => services))).toEqual([
        [["web", "worker"]],
        [["other"]]
      ])
      for (const options of [{}, { service: null }]) {
        expect(yield* found(options)).toMatchObject({ sections: [{}, {}], others: [] })
      }
    }))

  it.effect("refuse a service without a section, by name", () =>
    Effect.gen(function*() {
      expect(yield* Effect.flip(found({ service: "wrker" }))).toMatchObject({
        status: 422,
        message:
          "/srv/shop/compose.yml: builds no service \"wrker\": it builds web, worker, other. Did you mean \"worker\"?"
      })
      // One without a build section, and one that is not started.
      for (const service of ["db", "debug", ""]) expect((yield* Effect.flip(found({ service }))).status).toBe(422)
    }))

  it.effect("leave out the cache, and change no name of an image", () =>
    Effect.gen(function*() {
      const [usual, fresh] = [yield* found({}), yield* found({ noCache: true })]
      expect(usual.sections.map(({ options }) => options)).toEqual([[], ["--target", "app"]])
      expect(fresh.sections.map(({ options }) => options)).toEqual([["--no-cache"], ["--target", "app", "--no-cache"]])
      expect(fresh.sections.map(({ digest }) => digest)).toEqual(usual.sections.map(({ digest }) => digest))
    }))
})

const overBoth = `
services:
  web:
    build: { target: app, args: { MODE: prod } }
  added:
    build: { context: web, dockerfile: Other }
`

describe("build sections of several compose files", () => {
  const several = (over: string) =>
    memoryWorld({
      files: {
        [`${directory}/compose.yml`]:
          "name: first\nservices:\n  web:\n    build: { context: web, args: { MODE: dev, KEPT: a } }\n",
        [`${directory}/prod.yml`]: over,
        [`${directory}/container.json`]: JSON.stringify({ compose: ["compose.yml", "prod.yml"] }),
        [`${directory}/web/Dockerfile`]: "FROM scratch"
      }
    })

  it.effect("are merged as compose merges them", () =>
    Effect.gen(function*() {
      const { sections } = yield* findBuildSections(directory)
      expect(sections.map(({ args, context, dockerfile, options, services }) => ({
        args,
        context,
        dockerfile,
        options,
        services
      }))).toEqual([
        {
          services: ["web"],
          context: "web",
          dockerfile: undefined,
          args: [["MODE", "prod"], ["KEPT", "a"]],
          options: ["--target", "app"]
        },
        { services: ["added"], context: "web", dockerfile: "Other", args: [], options: [] }
      ])
    }).pipe(Effect.provide(several(overBoth))))

  it.effect("keep what a later file does not say, in either form", () =>
    Effect.gen(function*() {
      const compose = yield* readComposeFile(directory, { compose: ["compose.yml", "prod.yml"] })
      expect(compose.services).toMatchObject([{ name: "web", builds: true, buildContext: "web" }])
      const { sections } = yield* findBuildSections(directory)
      expect(sections).toMatchObject([{ context: "web", args: [["MODE", "list"], ["KEPT", "a"], ["MORE", "b=c"]] }])
    }).pipe(Effect.provide(several("services:\n  web:\n    build:\n      args: [MODE=list, MORE=b=c]\n"))))

  it.effect("take the context of the file that says it last", () =>
    Effect.gen(function*() {
      const { sections } = yield* findBuildSections(directory)
      expect(sections).toMatchObject([{ context: ".", args: [["MODE", "dev"], ["KEPT", "a"]] }])
      const { services } = yield* readComposeFile(directory, { compose: ["compose.yml", "prod.yml"] })
      expect(services).toMatchObject([{ buildContext: "." }])
    }).pipe(Effect.provide(several("services:\n  web:\n    build: .\n"))))

  it.effect("are refused at the file and line that says what a build here cannot do", () =>
    Effect.gen(function*() {
      const { message } = yield* Effect.flip(findBuildSections(directory))
      expect(message).toContain("/srv/shop/prod.yml:4:")
      expect(message).toContain("services.web.build.ssh is not supported")
    }).pipe(Effect.provide(several("services:\n  web:\n    build:\n      ssh: [default]\n"))))

  it.effect("have the project name of the last file that sets one", () =>
    Effect.gen(function*() {
      const compose = yield* readComposeFile(directory, { compose: ["compose.yml", "prod.yml"] })
      expect(findComposeProjectName(compose)).toBe("second")
    }).pipe(Effect.provide(several("name: second\nservices: {}\n"))))
})

describe("build sections of a compose file", () => {
  it.effect("are one where services say the same, and none of services that do not run", () =>
    Effect.gen(function*() {
      const sections = yield* sectionsOf(sharing)
      expect(sections.map(({ args, context, options, services }) => ({ args, context, options, services }))).toEqual([
        { args: [["TOKEN", "abc def"], ["TAG", "1.5"]], context: "web", options: [], services: ["web", "worker"] },
        { args: [], context: "web", options: ["--target", "app"], services: ["other"] }
      ])
    }))

  it.effect("are refused with line and key where a build here would do something else", () =>
    Effect.gen(function*() {
      expect(yield* refusalOf("      context: web\n      ssh: [default]")).toBe(
        "/srv/shop/compose.yml:5:12: services.web.build.ssh is not supported by a build here: remove it, or build with a script"
      )
      expect(yield* refusalOf("      context: ../common")).toMatch(
        /compose\.yml:4:16: services\.web\.build\.context "\.\.\/common" leads out of the project/
      )
      expect(yield* refusalOf("      context: missing")).toMatch(/:4:16: .*"missing" is not a directory/)
      expect(yield* refusalOf("      context: https://git.example.com/a.git")).toMatch(/address of a repository/)
      expect(yield* refusalOf("      context: \"${NONE:?why}\"")).toMatch(
        /:4:16: services\.web\.build\.context: NONE is not set: why/
      )
      expect(yield* refusalOf("      context: web\n      args: 5")).toMatch(
        /is not a build section that compose accepts/
      )
    }))

  it.effect("lie outside of the project only with allowLinks", () =>
    Effect.gen(function*() {
      const compose = "services:\n  web:\n    build: ../common\n"
      const [section] = yield* sectionsOf(compose, { allowLinks: true })
      expect(section).toMatchObject({ context: "../common", directory: "/srv/common" })
    }))

  it.effect("are for the platform of container.json, else for that of the service", () =>
    Effect.gen(function*() {
      const compose = "services:\n  web:\n    build: web\n    platform: linux/arm64\n"
      expect((yield* sectionsOf(compose))[0]?.platform).toBe("linux/arm64")
      expect((yield* sectionsOf(compose, { build: { platform: "linux/amd64" } }))[0]?.platform).toBe("linux/amd64")
    }))
})

describe("trust in builds of a compose file", () => {
  const compose = "services:\n  web:\n    build: { context: web, target: app }\n"
  const asOperator = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provideService(effect, CurrentCaller, { name: "Ann", role: "operator" })

  it.effect("is needed by callers with a token, for the section and its Dockerfile", () =>
    Effect.gen(function*() {
      const local = yield* LocalFiles
      const programs = yield* listPrograms(directory, "build")
      expect(programs.map(({ detail, kind, name }) => [kind, name, detail])).toEqual([
        ["build", "web", "web"],
        ["imageFile", "web/Dockerfile", null]
      ])
      const trusted = Object.fromEntries(
        programs.map(({ kind, name, sha256 }) => [formatTrustedName(kind, name), sha256])
      )
      const trust = {
        find: () => Effect.succeed(trusted),
        record: () => Effect.void,
        keepOnly: () => Effect.void,
        suspend: () => Effect.succeed(Effect.void)
      }
      const judge = asOperator(requireTrust(directory, "build"))
      expect((yield* Effect.flip(judge)).message).toContain("build web is new, web/Dockerfile is new")
      const known = Effect.provideService(judge, ProjectTrust, trust)
      yield* known
      yield* local.write(`${directory}/web/Dockerfile`, "FROM evil")
      expect((yield* Effect.flip(known)).message).toContain("web/Dockerfile has changed since it was trusted")
      yield* local.write(`${directory}/web/Dockerfile`, "FROM scratch")
      yield* known
      yield* local.write(`${directory}/compose.yml`, compose.replace("app", "other"))
      expect((yield* Effect.flip(known)).message).toContain("build web has changed since it was trusted")
    }).pipe(Effect.provide(world(compose))))
})

describe("the command of a build", () => {
  it("has no value of an argument or secret, except of those that would steer Docker itself", () => {
    const section = {
      digest: "0".repeat(16),
      services: ["web"],
      context: "web",
      directory: "/srv/shop/web",
      dockerfile: "Dockerfile.prod",
      inline: undefined,
      args: [["TOKEN", "abc def"], ["DOCKER_HOST", "tcp://x"], ["PATH", "/x"]] as const,
      platform: "linux/arm64",
      options: ["--target", "app"]
    }
    const files = { inline: undefined, secrets: [["NPM_TOKEN", "/tmp/b/secret-0"]] as const }
    const { args, variables } = formatDockerBuild(section, "berth/build:1-2", files, "2g")
    expect(args.join(" ")).toBe(
      "build --tag berth/build:1-2 --file Dockerfile.prod --platform linux/arm64 --memory 2g --target app " +
        "--build-arg TOKEN --build-arg DOCKER_HOST=tcp://x --build-arg PATH=/x --secret id=NPM_TOKEN,src=/tmp/b/secret-0 " +
        "-- /srv/shop/web"
    )
    expect(variables).toEqual({ TOKEN: "abc def" })
  })
})
