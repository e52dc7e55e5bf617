import { Duration, Effect, Option } from "effect"
import type { Finding } from "../../schema/Health.ts"
import type { Server, ServerAccess } from "../../schema/Server.ts"
import { GitHost } from "../../services/githost/GitHost.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { withoutSecrets } from "../../services/secrets/secretsInUse.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import { composeObstacle } from "../deploy/preflight.ts"
import { parsePreflight, preflightCommand } from "../remote/deployPreflight.ts"
import { proxyAccessCommand, proxyAccessExit } from "../remote/proxyAccess.ts"
import { proxyHome } from "../routes/proxyHome.ts"
import { dockerHelp } from "../servers/dockerHelp.ts"
import { repositoryNameOf } from "../webhooks/repositoryName.ts"

const checksAtOnce = 8
const patience = Duration.seconds(20)

interface Failure {
  readonly _tag: string
  readonly message: string
}

const helpOf = ({ _tag }: Failure): { readonly help?: string } => {
  switch (_tag) {
    case "SettingMissing":
      return { help: "Set it to use this part of the service; the rest works without" }
    case "AuthenticationFailed":
      return { help: "Check the user name and the credentials of the server in the settings" }
    case "ServerUnreachable":
      return { help: "Check that the server is up, and its host and port in the settings" }
    case "PlatformRefused":
    case "GitHostRefused":
      return { help: "Check the token and the address in the settings" }
    default:
      return {}
  }
}

/** What a check found, with the time it took; a check that fails is a finding too. */
const finding = <R>(
  name: string,
  check: Effect.Effect<ReadonlyArray<Finding> | Finding, Failure, R>
): Effect.Effect<ReadonlyArray<Finding>, never, R | Settings> =>
  check.pipe(
    Effect.catchAll((failure) => Effect.succeed({ name, ok: false, detail: failure.message, ...helpOf(failure) })),
    Effect.timeoutTo({
      duration: patience,
      onSuccess: (found) => found,
      onTimeout: () => ({ name, ok: false, detail: `no answer within ${Duration.toSeconds(patience)} s` })
    }),
    Effect.timed,
    Effect.flatMap(([took, found]) => {
      const latencyMs = Math.round(Duration.toMillis(took))
      return Effect.forEach(Array.isArray(found) ? found : [found], (each: Finding) =>
        Effect.map(withoutSecrets(each.detail), (detail) => ({ ...each, detail, latencyMs })))
    })
  )

/** Docker and compose on a server, and whether they fit each other. */
const checkServer = ({ id, name: server }: Server) =>
  Effect.gen(function*() {
    const name = `server ${server}`
    const access: ServerAccess = yield* (yield* Settings).server(id)
    const questions = { remotePath: "~/containers", images: [], files: [], layers: false, thorough: true }
    const exit = yield* (yield* Ssh).exec(access, preflightCommand(questions, access.useSudo))
    if (exit.code !== 0) return { name, ok: false, detail: dockerHelp(exit.stderr.trim(), access) }
    const facts = parsePreflight(exit.stdout)
    const reason = composeObstacle(facts, server)
    const detail = `Docker ${facts.engine}, compose ${facts.composeVersion || "none"}`
    return reason === undefined ? { name, ok: true, detail } : { name, ok: false, detail, help: reason }
  })

/** Whether the proxy file can be read and written through sudo. */
const checkProxy = Effect.gen(function*() {
  const name = "proxy file"
  const { file, server } = yield* proxyHome
  const exit = yield* (yield* Ssh).exec(server, proxyAccessCommand(file))
  const said = exit.stderr.trim()
  switch (exit.code) {
    case 0:
      return { name, ok: true, detail: `${file} on "${server.name}" can be read and written` }
    case proxyAccessExit.unreadable:
      return {
        name,
        ok: false,
        detail: `${file} on "${server.name}" cannot be read: ${said}`,
        help: "Check proxy.configFile, and that the user may run cat on it through sudo"
      }
    default:
      return {
        name,
        ok: false,
        detail: `${file} on "${server.name}" cannot be written: ${said}`,
        help: "Let the user run tee on it through sudo, and check that the file system is not read-only"
      }
  }
})

/** Whether the hooks of a repository can be set up, tried on the first application that has one. */
const checkGitHost = Effect.gen(function*() {
  const owner = yield* (yield* Settings).get("gitHost.owner")
  const apps = yield* (yield* Platform).applications
  const names = apps.flatMap((app) => Option.toArray(repositoryNameOf(app)))
  const [name] = names
  return name === undefined
    ? { name: "git host", ok: true, detail: "not looked at: no application names a repository" }
    : yield* (yield* GitHost).check({ owner, name })
})

/**
 * Looks at everything that the service depends on, without changing anything: a line each, with how long it took and,
 * where a person has something to mend, one sentence of help.
 */
export const checkDependencies = Effect.gen(function*() {
  const settings = yield* Settings
  const servers = yield* Effect.either(settings.servers)
  const read = servers._tag === "Right"
    ? Effect.succeed({ name: "settings", ok: true, detail: settings.file })
    : Effect.fail(servers.left)
  const checks = [
    finding("settings", read),
    finding("platform", Effect.flatMap(Platform, ({ check }) => check)),
    finding("git host", checkGitHost),
    finding("proxy file", checkProxy),
    ...(servers._tag === "Right" ? servers.right : []).map((server) =>
      finding(`server ${server.name}`, checkServer(server))
    )
  ]
  return (yield* Effect.all(checks, { concurrency: checksAtOnce })).flat()
}).pipe(Effect.withSpan("health.checkDependencies"))
