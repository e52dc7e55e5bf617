import * as NodeContext from "@effect/platform-node/NodeContext"
import { Context, Effect, Layer } from "effect"
import { LeaveCommandAddress } from "../../http/leaveAddress.ts"
import { listen } from "../../http/listen.ts"
import { CommandHttp } from "../../http/server.ts"
import type { servicesLive } from "../../services/ServicesLive.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { PrivateToken } from "../../services/state/PrivateToken.ts"

type Services = Layer.Layer.Success<ReturnType<typeof servicesLive>>

/**
 * Answers other commands of the same user about the runs of this process, on a loopback port that wants the private
 * token, until the scope closes.
 */
export const answerOthers = Effect.gen(function*() {
  const services = yield* Effect.context<Services>()
  const token = yield* PrivateToken
  const settings = yield* Settings
  // Whatever the settings let in, a command answers none but its own user's commands.
  const guard = Effect.succeed({ token, tokens: [], hosts: [], origins: [] })
  const locked = Layer.succeedContext(Context.add(services, Settings, { ...settings, guard }))
  const http = Layer.merge(CommandHttp, Layer.provide(LeaveCommandAddress, NodeContext.layer))
  yield* Layer.build(listen(http, locked, { host: "127.0.0.1", port: 0 }))
})
