import { HttpServer, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Console, Effect, Layer, Option, type Scope } from "effect"
import { configuredPort, formatBaseUrl, listen, RecordAddress } from "../http/listen.ts"
import { Http } from "../http/server.ts"
import { AgentTools } from "../mcp/http.ts"
import { servicesLive } from "../services/ServicesLive.ts"
import { loopback, SandboxFailed } from "./httpDouble.ts"
import { type CoolifyWorld, makeCoolifyWorld, makeWorld, removeOrphans, type World } from "./world.ts"

const defaultPort = 3100

const greeting = (world: World | CoolifyWorld, hello: string, url: string): string => {
  const deploy = JSON.stringify({
    projectPath: hello,
    serverId: world.serverId,
    remotePath: "~/containers/hello"
  })
  return `
Berth runs in a sandbox: a server, a platform and a git host that are all inside this process.
Docker on that server is a stand-in: it remembers what it was asked and runs nothing.

  Berth       ${url}
  Reference   ${url}/reference
  Settings    ${world.settingsFile}
  Projects    ${world.projects}
  Server      ${world.server.username}@${world.server.host} port ${world.server.port}, its home is ${world.home}
  Platform    ${world.platform.url}
  Git host    ${world.gitHost.url}

Three things to try in another terminal:

  curl ${url}/api/projects
  curl ${url}/api/container/deploy -H 'content-type: application/json' -d '${deploy}'
  curl '${url}/api/servers/${world.serverId}/logs?containerName=hello&lines=20'

The commands of README.md and docs/ work as they stand after:

  export BERTH=${url} BERTH_URL=${url} PROJECTS=${world.projects}

Ctrl-C ends it and removes everything.
`
}

/** Prints addresses and tokens once the service listens. */
const Greet = (world: World | CoolifyWorld) =>
  Layer.effectDiscard(Effect.gen(function*() {
    const { address } = yield* HttpServer.HttpServer
    const path = yield* Path.Path
    yield* Console.log(greeting(world, path.join(world.projects, "hello"), formatBaseUrl(address)))
  }))

/** Starts the world that the arguments select: `--vendor coolify` is one with Coolify and Gitea. */
const makeAskedWorld = (
  args: ReadonlyArray<string>
): Effect.Effect<World | CoolifyWorld, SandboxFailed, Scope.Scope> => {
  const [flag, vendor, ...others] = args
  if (flag === undefined || (flag === "--vendor" && vendor === "neutral" && others.length === 0)) return makeWorld
  if (flag === "--vendor" && vendor === "coolify" && others.length === 0) return makeCoolifyWorld
  return new SandboxFailed({
    part: "command line",
    reason: `${args.join(" ")} is not understood. There is --vendor neutral, and --vendor coolify`
  })
}

/** Serves a new world until interrupted, then removes it. */
export const serveSandbox = (args: ReadonlyArray<string>) =>
  Effect.scoped(Effect.gen(function*() {
    yield* removeOrphans
    const asked = yield* configuredPort
    const world = yield* makeAskedWorld(args)
    const services = Layer.provide(servicesLive(world.settingsFile), NodeContext.layer)
    const serve = (port: number) =>
      listen(
        // Lets commands with the sandbox's settings discover the service.
        Layer.mergeAll(Layer.provide(Http, AgentTools), Greet(world), RecordAddress),
        Layer.merge(services, NodeContext.layer),
        { host: loopback, port }
      )
    yield* Layer.launch(Option.match(asked, {
      onSome: serve,
      // The default port may be in use by another Berth.
      onNone: () => Layer.catchAll(serve(defaultPort), () => serve(0))
    }))
  }))
