import { Duration, Effect, Option } from "effect"
import { proxyAccessCommand, proxyAccessExit } from "../../remote/proxy/proxyAccessCommand.ts"
import { type Finding, projectsFinding, settingsFinding } from "../../schema/Health.ts"
import type { Server, ServerAccess } from "../../schema/servers/Server.ts"
import { GitHost } from "../../services/githost/GitHost.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import { proxyLocation } from "../routes/proxyLocation.ts"
import { parseRepositoryName } from "../webhooks/repositoryName.ts"
import { checkDocker } from "./checkDocker.ts"
import { checkDefaultServer, checkNamed } from "./checkPlatformSettings.ts"
import { checkSetting } from "./checkSettings.ts"
import { checkDisk, checkProjects, checkRuns } from "./checkState.ts"
import { markNotSetUp } from "./markNotSetUp.ts"

const checksAtOnce = 8
const checkTimeout = Duration.seconds(20)

interface Failure {
  readonly _tag: string
  readonly message: string
}

const fixOf = ({ _tag }: Failure): string => {
  switch (_tag) {
    case "SettingMissing":
      return "Set it to use this part of the service; the rest works without"
    case "AuthenticationFailed":
      return "Check the user name and the credentials of the server in the settings"
    case "ServerUnreachable":
      return "Check that the server is up, and its host and port in the settings"
    case "PlatformRefused":
    case "GitHostRefused":
      return "Check the token and the address in the settings"
    case "RunStoreUnavailable":
      return "Mend what the detail says: the service records runs again by itself as soon as it can"
    case "SettingsInvalid":
      return "Correct the settings file where the detail says"
    default:
      return "Mend what the detail says, and ask again"
  }
}

/** Turns a check into a finding with its duration; a failure is a finding too. */
const finding = <R>(
  name: string,
  check: Effect.Effect<ReadonlyArray<Finding> | Finding, Failure, R>
): Effect.Effect<ReadonlyArray<Finding>, never, R | Settings> =>
  check.pipe(
    Effect.catchAll((failure) => Effect.succeed({ name, ok: false, detail: failure.message, fix: fixOf(failure) })),
    Effect.timeoutTo({
      duration: checkTimeout,
      onSuccess: (found) => found,
      onTimeout: () => ({
        name,
        ok: false,
        detail: `no answer within ${Duration.toSeconds(checkTimeout)} s`,
        fix: "Check that it is up and can be reached from this machine"
      })
    }),
    Effect.timed,
    Effect.flatMap(([took, found]) => {
      const latencyMs = Math.round(Duration.toMillis(took))
      return Effect.forEach(Array.isArray(found) ? found : [found], (each: Finding) =>
        Effect.map(scrubSecrets(each.detail), (detail) => ({ ...each, detail, latencyMs })))
    })
  )

/** Checks Docker and compose on a server and their compatibility. */
const checkServer = ({ id, name: server }: Server) =>
  Effect.gen(function*() {
    const name = `server ${server}`
    const access: ServerAccess = yield* (yield* Settings).server(id)
    return { name, ...yield* checkDocker(access) }
  })

/** Checks that the proxy file can be read and written through sudo. */
const checkProxy = Effect.gen(function*() {
  const name = "proxy file"
  const { file, server } = yield* proxyLocation
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
        fix: "Check proxy.configFile, and that the user may run cat on it through sudo"
      }
    default:
      return {
        name,
        ok: false,
        detail: `${file} on "${server.name}" cannot be written: ${said}`,
        fix: "Let the user run tee on it through sudo, and check that the file system is not read-only"
      }
  }
})

/** Checks that webhooks can be set up, using the repository of the first application that has one. */
const checkGitHost = Effect.gen(function*() {
  const owner = yield* (yield* Settings).get("gitHost.owner")
  const apps = yield* (yield* Platform).applications
  const names = apps.flatMap((app) => Option.toArray(parseRepositoryName(app)))
  const [name] = names
  return name === undefined
    ? { name: "git host", ok: true, detail: "not looked at: no application names a repository" }
    : yield* (yield* GitHost).check({ owner, name })
})

const noSettings = (file: string) => ({
  setUp: false,
  detail: `${file} does not exist yet: all settings are the defaults`,
  fix: "Run berth server add, which makes it with your first server in it"
})

/**
 * Checks everything that the service depends on, without changing anything. Each finding has its duration and, if an
 * operator can fix the problem, one sentence with the remedy.
 */
export const checkDependencies = Effect.gen(function*() {
  const settings = yield* Settings
  const servers = yield* Effect.either(settings.servers)
  const read = servers._tag === "Right"
    ? Effect.map(settings.isStored, (isStored): Finding => {
      const found = { name: settingsFinding, ok: isStored, detail: settings.file }
      return isStored ? found : { ...found, ...noSettings(settings.file) }
    })
    : Effect.map(settings.findings, (all) => ({
      name: settingsFinding,
      ok: false,
      detail: all.length === 0 ? servers.left.message : all.map(({ problem }) => problem).join("; "),
      fix: fixOf(servers.left)
    }))
  const checks = [
    finding(settingsFinding, read),
    finding(projectsFinding, checkProjects),
    finding("platform", Effect.flatMap(Platform, ({ check }) => check)),
    finding("git host", checkGitHost),
    finding("proxy file", checkProxy),
    finding("platform.defaultServerUuid", checkDefaultServer),
    finding("platform.projectUuid", checkNamed("platform.projectUuid")),
    finding("platform.privateKeyUuid", checkNamed("platform.privateKeyUuid")),
    finding("gitHost.webhookSecret", checkSetting("gitHost.webhookSecret")),
    finding("proxy.targetIp", checkSetting("proxy.targetIp")),
    finding("history of runs", checkRuns),
    finding("free disk", checkDisk),
    ...(servers._tag === "Right" ? servers.right : []).map((server) =>
      finding(`server ${server.name}`, checkServer(server))
    )
  ]
  const found = (yield* Effect.all(checks, { concurrency: checksAtOnce })).flat()
  if (servers._tag === "Right") return found
  // A settings error is reported once, not for each part that needs them.
  const reason = yield* scrubSecrets(servers.left.message)
  return found.filter(({ detail, name }) => name === settingsFinding || !detail.includes(reason))
}).pipe(Effect.flatMap(markNotSetUp), Effect.withSpan("health.checkDependencies"))
