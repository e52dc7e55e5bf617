import { Effect, Option } from "effect"
import { Disclosed } from "../../schema/Disclosed.ts"
import type { PlatformRecord } from "../../schema/PlatformApp.ts"
import { HostPortHidden, type NextPort, NoPortLeft } from "../../schema/Route.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { warnWithoutSecrets } from "../../services/secrets/secretsInUse.ts"
import { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { withAnswerBudget } from "../../services/upstream/answerBudget.ts"
import { hostPortOf } from "../applications/hostPort.ts"
import { readProxyText } from "../routes/proxyFile.ts"
import { proxyHome } from "../routes/proxyHome.ts"
import { usedPorts } from "./usedPorts.ts"

/** The highest port that counts as taken when none is. */
const base = 2006
/** The port that the first application of all gets. */
export const firstPort = base + 1
const highestPort = 65535

/** The whole number that a value begins with, when it is a port. */
const portOf = (value: string): ReadonlyArray<number> => {
  const port = Number.parseInt(value, 10)
  return port >= 1 && port <= highestPort ? [port] : []
}

const none: ReadonlyArray<number> = []

/** An application's port; one whose variables cannot be read counts as none, one whose port is hidden does not. */
const portOfApp = (app: PlatformRecord) =>
  Effect.gen(function*() {
    const platform = yield* Platform
    const envs = yield* platform.envs(app.uuid).pipe(
      Effect.tapError((error) => warnWithoutSecrets(`The port of "${app.name}" is unknown: ${error.message}`)),
      Effect.orElseSucceed(() => [])
    )
    return yield* Option.match(hostPortOf(envs), {
      onNone: () => Effect.succeed(none),
      onSome: ({ value }) =>
        Disclosed.$match(value, {
          Known: ({ value: text }) => Effect.succeed(portOf(text)),
          Absent: () => Effect.succeed(none),
          Hidden: ({ reason }) => new HostPortHidden({ app: app.name, reason })
        })
    })
  })

const applicationPorts = Effect.gen(function*() {
  const platform = yield* Platform
  const apps = yield* platform.applications.pipe(
    Effect.tapError((error) => warnWithoutSecrets(`The applications' ports are unknown: ${error.message}`)),
    Effect.orElseSucceed(() => [])
  )
  const ports = yield* Effect.forEach(apps, portOfApp, { concurrency: 16 })
  return ports.flat()
})

const proxyPorts = Effect.gen(function*() {
  const settings = yield* Settings
  const subnet = yield* settings.find("proxy.subnet")
  const text = yield* readProxyText(yield* proxyHome)
  return usedPorts(text, Option.getOrUndefined(subnet))
}).pipe(
  Effect.tapError((error) => warnWithoutSecrets(`The proxy's ports are unknown: ${error.message}`)),
  Effect.orElseSucceed(() => none)
)

/**
 * The ports in use, by applications and in the proxy file, and the one after the highest. What cannot be read is left
 * out, but a port that the platform keeps to itself fails with `HostPortHidden`: it would be handed out again.
 */
export const nextPort: Effect.Effect<NextPort, HostPortHidden | NoPortLeft, Platform | Settings | Ssh> = Effect.gen(
  function*() {
    const [ofApplications, ofProxy] = yield* Effect.all([applicationPorts, proxyPorts], { concurrency: "unbounded" })
    const used = Array.from(new Set([...ofApplications, ...ofProxy])).sort((one, other) => one - other)
    const highest = used.at(-1) ?? base
    if (highest >= highestPort) return yield* new NoPortLeft({ highest })
    return { nextPort: highest + 1, usedPorts: used }
  }
).pipe(withAnswerBudget, Effect.withSpan("nextPort"))
