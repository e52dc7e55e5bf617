import { Effect } from "effect"
import { Berth } from "../../client/Berth.ts"
import { Connection } from "../connection/Connection.ts"
import { common } from "../options/common.ts"
import { defineLocalCommand } from "../parse/command.ts"
import { flagOption } from "../parse/parameters.ts"
import { exitCodes } from "../terminal/exitCodes.ts"

export const agentCommand = defineLocalCommand(
  {
    name: "mcp",
    summary: "Offer the tools for agents on standard input and output.",
    details:
      "An agent's client starts it, speaks the Model Context Protocol with it, and ends it. A service that runs " +
      "offers the same at /mcp.",
    examples: ["berth mcp", "berth mcp --read-only"]
  },
  { url: common.url, config: common.config, readOnly: flagOption("read-only", "Offer no tool that changes anything.") },
  ({ config, readOnly, url }) =>
    Effect.scoped(Effect.gen(function*() {
      const { open } = yield* Connection
      const berth = yield* open({ url, config }, "mcp")
      const { serveAgent } = yield* Effect.promise(() => import("../../mcp/stdio.ts"))
      yield* Effect.provideService(serveAgent({ readOnly }), Berth, berth)
      return exitCodes.done
    }))
)
