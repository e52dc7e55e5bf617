// Deploys a project through a running service, and prints the events of its run.
//
//   npx tsx examples/deploy.ts http://127.0.0.1:3100 /home/ann/hello main ~/containers/hello
import { NodeRuntime } from "@effect/platform-node"
import { Berth, overHttp } from "berth-pipelines"
import { Console, Effect } from "effect"

const [url = "", projectPath = "", serverId = "", remotePath = ""] = process.argv.slice(2)

const program = Effect.gen(function*() {
  const berth = yield* Berth
  const payload = { projectPath, serverId, remotePath }
  const result = yield* berth.run((api) => api.deploy({ payload }), ({ event }) => Console.log(event))
  yield* Console.log(result.healthy ? "healthy" : "not healthy")
})

program.pipe(Effect.provide(overHttp({ url })), NodeRuntime.runMain)
