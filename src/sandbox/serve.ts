import { HttpServer, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Console, Effect, Layer, Option } from "effect"
import type { Scope } from "effect"
import { baseUrl } from "../http/announce.ts"
import { askedPort } from "../http/askedPort.ts"
import { LeaveAddress } from "../http/leaveAddress.ts"
import { listen } from "../http/listen.ts"
import { Http } from "../http/server.ts"
import { AgentTools } from "../mcp/http.ts"
import { servicesLive } from "../services/ServicesLive.ts"
import { loopback } from "./loopback.ts"
import { clearLeftBehind } from "./ownedDirectory.ts"
import { SandboxFailed } from "./SandboxFailed.ts"
import { type CoolifyWorld, makeCoolifyWorld } from "./vendorWorld.ts"
import { makeWorld } from "./world.ts"
import type { World } from "./world.ts"

const usualPort = 3100

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

/** Says what there is once the service listens. */
const Greet = (world: World | CoolifyWorld) =>
  Layer.effectDiscard(Effect.gen(function*() {
    const { address } = yield* HttpServer.HttpServer
    const path = yield* Path.Path
    yield* Console.log(greeting(world, path.join(world.projects, "hello"), baseUrl(address)))
  }))

/** The world that the command line asks for: `--vendor coolify` is one on a Coolify and a Gitea. */
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

/** Serves a world of its own, which goes with it: the one that the arguments ask for, until it is interrupted. */
export const serveSandbox = (args: ReadonlyArray<string>) =>
  Effect.scoped(Effect.gen(function*() {
    yield* clearLeftBehind
    const asked = yield* askedPort
    const world = yield* makeAskedWorld(args)
    const services = Layer.provide(servicesLive(world.settingsFile), NodeContext.layer)
    const serve = (port: number) =>
      listen(
        // Commands with the sandbox's settings find it by themselves.
        Layer.mergeAll(Layer.provide(Http, AgentTools), Greet(world), LeaveAddress),
        Layer.merge(services, NodeContext.layer),
        { host: loopback, port }
      )
    yield* Layer.launch(Option.match(asked, {
      onSome: serve,
      // Another Berth may be at the usual port.
      onNone: () => Layer.catchAll(serve(usualPort), () => serve(0))
    }))
  }))
