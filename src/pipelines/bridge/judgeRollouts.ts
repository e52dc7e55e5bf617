import { Effect } from "effect"
import type { ServerFacts } from "../../remote/deploy/preflightCommand.ts"
import type { PlannedService } from "../../schema/deploy/ContainerPlan.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { bridgePorts } from "../../services/settings/bridgePorts.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { bridgeObstacle } from "./bridgeObstacle.ts"
import { judgeRollout } from "./judgeRollout.ts"
import type { ComposeTexts } from "./publishedPort.ts"
import { readProxyView } from "./readProxyView.ts"
import type { Rollout } from "./Rollout.ts"

/** Version of a stack that is to run, with the changes of its services, and the server that it comes to. */
export interface RolloutVersion {
  readonly here: ComposeTexts
  readonly services: ReadonlyArray<PlannedService>
  readonly facts: ServerFacts
}

/** Decides how each service that `bridged` names gets its new version. Changes nothing. */
export const judgeRollouts = (
  server: ServerAccess,
  bridged: ReadonlyArray<string>,
  { facts, here, services }: RolloutVersion
): Effect.Effect<ReadonlyArray<Rollout>, SettingsError, Settings | Ssh> =>
  Effect.gen(function*() {
    if (bridged.length === 0) return []
    const proxy = yield* readProxyView(server, facts.there.addresses ?? [])
    const { first } = yield* bridgePorts
    return bridged.map((service) =>
      judgeRollout(service, {
        isRecreated: services.some(({ change, name }) => name === service && change === "recreate"),
        here,
        there: facts.there,
        containers: facts.there.containers,
        proxy,
        freePort: first,
        obstacle: bridgeObstacle(facts)
      })
    )
  })
