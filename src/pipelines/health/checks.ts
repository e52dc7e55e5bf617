import { Duration, Effect, Either, Option } from "effect"
import { parsePreflight, preflightCommand } from "../../remote/deploy.ts"
import { proxyAccessCommand, proxyAccessExit } from "../../remote/proxy.ts"
import { Disclosed, PlatformRefused } from "../../schema/applications.ts"
import { type Finding, projectsFinding, settingsFinding } from "../../schema/overview.ts"
import type { Server } from "../../schema/servers.ts"
import type { SettingName } from "../../schema/settings.ts"
import type { ServerAccess } from "../../schema/ssh.ts"
import { GitHostRefused } from "../../schema/webhooks.ts"
import { GitHost } from "../../services/githost.ts"
import { LocalFiles, readFreeDisk } from "../../services/local/LocalFiles.ts"
import { resolveHomeDirectory } from "../../services/local/user.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { scrubSecrets, Settings } from "../../services/settings/Settings.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import { adviseRefusal } from "../../services/upstream/advice.ts"
import { checkUnkeptDatabases } from "../backups/databases.ts"
import { proxyLocation, readProxyText } from "../routes/proxyFile.ts"
import { readProxy } from "../routes/proxyText.ts"
import { describeDockerRefusal, findComposeFailure } from "../servers/servers.ts"
import { checkTrust } from "../trust.ts"
import { parseRepositoryName } from "../webhooks/hooks.ts"

/** Minimum free disk space in bytes; less is a finding. */
const leastFree = 512 * 1024 * 1024

/** Formats bytes as `1,234 MiB`. */
const formatWholeMebibytes = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024).toLocaleString("en-US")} MiB`

/** A local directory and the free bytes of its disk. */
interface FreeSpace {
  readonly directory: string
  readonly free: number
}

export const checkFreeDisk = (rooms: ReadonlyArray<FreeSpace>): Finding => {
  const name = "free disk"
  const detail = rooms.map(({ directory, free }) =>
    `${formatWholeMebibytes(free)} free on this machine at ${directory}`
  ).join(
    ", "
  )
  const short = rooms.find(({ free }) => free < leastFree)
  return short === undefined
    ? { name, ok: true, detail }
    : {
      name,
      ok: false,
      detail,
      fix: `Free disk space at ${short.directory}, at least ${
        formatWholeMebibytes(leastFree)
      }: old image archives are the first to go`
    }
}

const isThere = (directory: string) =>
  Effect.map(Effect.flatMap(LocalFiles, ({ find }) => find(directory)), Option.isSome)

/** Checks free disk space for archives, settings and the run history; ignores missing directories. */
const checkDisk = Effect.gen(function*() {
  const { directory, get } = yield* Settings
  const directories = new Set([yield* get("projects.root"), directory])
  const existing = yield* Effect.filter(directories, isThere)
  // A fresh installation has neither directory yet, so the home directory is checked.
  const looked = existing.length === 0 ? [resolveHomeDirectory()] : existing
  return checkFreeDisk(
    yield* Effect.forEach(looked, (directory) => Effect.map(readFreeDisk(directory), (free) => ({ directory, free })))
  )
})

/**
 * Checks the projects directory. A missing default directory counts as not set up, like every part without a setting;
 * one that a setting names must exist.
 */
const checkProjects = Effect.gen(function*() {
  const name = projectsFinding
  const { file, get, list } = yield* Settings
  const root = yield* get("projects.root")
  const found = yield* (yield* LocalFiles).find(root)
  if (Option.exists(found, ({ kind }) => kind === "directory")) return { name, ok: true, detail: root }
  const isDefault = (yield* list).every((each) => each.name !== "projects.root" || each.source === "default")
  const isMissing = Option.isNone(found)
  const fix = isMissing
    ? "Create it, or name another one: berth settings set projects.root DIRECTORY --create"
    : `Set projects.root in ${file} to a directory`
  const finding: Finding = {
    name,
    ok: false,
    detail: isMissing
      ? `${root} does not exist${isDefault ? " yet, and is where Berth looks for projects" : ""}`
      : `${root} is not a directory`,
    fix
  }
  return isDefault && isMissing ? { ...finding, setUp: false } : finding
})

/** Checks that runs can be recorded, by a write to their store. */
const checkRuns = Effect.gen(function*() {
  const { bytes, store } = yield* (yield* Runs).checkStore
  return {
    name: "history of runs",
    ok: true,
    detail: `${store} can be written, and takes ${formatWholeMebibytes(bytes)}`
  }
})

/** Checks Docker and compose on a server, their compatibility and the free disk space. */
export const checkDocker = Effect.fn("health.checkDocker")(function*(access: ServerAccess) {
  const questions = { remotePath: "~/containers", images: [], files: [], layers: false, thorough: true }
  const exit = yield* (yield* Ssh).exec(access, preflightCommand(questions, access.useSudo))
  if (exit.code !== 0) {
    const fix = `Make "docker info" work on the server for ${access.username}`
    return { ok: false, detail: describeDockerRefusal(exit.stderr.trim(), access), fix }
  }
  const facts = parsePreflight(exit.stdout)
  const reason = findComposeFailure(facts, access.name)
  const free = Math.min(facts.freeKiB, facts.dockerFreeKiB) * 1024
  const room = Number.isFinite(free) ? `, ${formatWholeMebibytes(free)} of disk free` : ""
  const detail = `Docker ${facts.engine}, compose ${facts.composeVersion || "none"}${room}`
  const fix = reason ??
    (free < leastFree ? `Free disk space on the server: berth server prune ${access.name}` : undefined)
  return fix === undefined ? { ok: true, detail } : { ok: false, detail, fix }
})

/** Settings that only an upsert needs, with their purposes. */
const upsertSettings = {
  "platform.projectUuid": "the project of the platform that new applications are created in",
  "platform.privateKeyUuid": "the deploy key with which the platform reads repositories",
  "gitHost.webhookSecret": "the secret that push events are signed with",
  "proxy.targetIp": "the address that routes lead to"
} as const

/** Passed check of a setting. */
const makeSetFinding = (name: keyof typeof upsertSettings) => ({
  name,
  ok: true,
  detail: `it is set: ${upsertSettings[name]}`
})
/** Failed check of a missing setting. */
const makeMissingFinding = (name: keyof typeof upsertSettings, file: string) => ({
  name,
  ok: false,
  detail: "it is not set",
  fix: `Set ${name} in ${file}: ${upsertSettings[name]}`
})

/** Checks that a setting which upserts need exists; never reveals its value. */
const checkSetting = (name: "gitHost.webhookSecret" | "proxy.targetIp") =>
  Effect.gen(function*() {
    const settings = yield* Settings
    const value: Option.Option<unknown> = yield* settings.find(name)
    return Option.isSome(value) ? makeSetFinding(name) : makeMissingFinding(name, settings.file)
  })

/** Settings that refer to objects of the platform, with the lookup of each. */
const named = {
  "platform.projectUuid": ["project", "projectName"],
  "platform.privateKeyUuid": ["deploy key", "privateKeyName"]
} as const

/** Checks that the platform has the object a setting refers to. Passes if the platform does not answer. */
const checkNamed = (name: keyof typeof named) =>
  Effect.gen(function*() {
    const settings = yield* Settings
    const uuid = yield* settings.find(name)
    if (Option.isNone(uuid)) return makeMissingFinding(name, settings.file)
    const [what, lookUp] = named[name]
    const found = yield* (yield* Platform)[lookUp](uuid.value)
    return Disclosed.$match(found, {
      Known: ({ value }): Finding => ({
        name,
        ok: true,
        detail: `it is the platform's ${what} ${JSON.stringify(value)}`
      }),
      Hidden: ({ reason }) => ({
        ...makeSetFinding(name),
        detail: `${makeSetFinding(name).detail}. Whether it exists is unknown: ${reason}`
      }),
      Absent: () => ({
        name,
        ok: false,
        detail: `the platform has no ${what} ${JSON.stringify(uuid.value)}`,
        fix: `Set ${name} in ${settings.file} to the uuid of ${upsertSettings[name]}`
      })
    })
  })

/** Checks that the default server for new applications is one of the platform's. */
const checkDefaultServer = Effect.gen(function*() {
  const name = "platform.defaultServerUuid"
  const settings = yield* Settings
  const found = yield* settings.find(name)
  const fix = `Set ${name} in ${settings.file} to the uuid of one of the platform's servers`
  if (Option.isNone(found)) return { name, ok: false, detail: "it is not set", fix }
  const servers = yield* (yield* Platform).servers
  const server = servers.find(({ uuid }) => uuid === found.value)
  return server === undefined
    ? { name, ok: false, detail: `the platform has no server ${JSON.stringify(found.value)}`, fix }
    : { name, ok: true, detail: `it is the platform's server "${server.name}"` }
})

/** Optional parts, with the settings that enable each. */
const parts = {
  platform: [
    "platform.url",
    "platform.token",
    "platform.projectUuid",
    "platform.defaultServerUuid",
    "platform.privateKeyUuid"
  ],
  gitHost: ["gitHost.url", "gitHost.token", "gitHost.sshHost", "gitHost.owner", "gitHost.webhookSecret"],
  proxy: ["proxy.configFile", "proxy.server", "proxy.targetIp"]
} as const satisfies Record<string, ReadonlyArray<SettingName>>

type Part = keyof typeof parts

/** Parts that a finding is about; the git host check also needs the platform's applications. */
const partsOf = (line: string): ReadonlyArray<Part> => {
  if (line === "git host") return ["gitHost", "platform"]
  if (line === "proxy file") return ["proxy"]
  const [first = ""] = line.split(".")
  return first === "platform" || first === "gitHost" || first === "proxy" ? [first] : []
}

const isUsed = (part: Part) =>
  Effect.gen(function*() {
    const settings = yield* Settings
    // A setting that cannot be read has been set.
    const isSet = (name: SettingName) =>
      Effect.match(settings.find(name), { onFailure: () => true, onSuccess: Option.isSome })
    return yield* Effect.exists(parts[part], isSet)
  })

/** Marks failed findings about a part without any setting as not set up. */
const markNotSetUp = Effect.fn("health.markNotSetUp")(function*(lines: ReadonlyArray<Finding>) {
  const used = { platform: yield* isUsed("platform"), gitHost: yield* isUsed("gitHost"), proxy: yield* isUsed("proxy") }
  return lines.map((line): Finding =>
    line.ok || partsOf(line.name).every((part) => used[part]) ? line : { ...line, setUp: false }
  )
})

const checksAtOnce = 8
const checkTimeout = Duration.seconds(20)

interface Failure {
  readonly _tag: string
  readonly message: string
}

const fixOf = (failure: Failure): string => {
  if (failure instanceof PlatformRefused || failure instanceof GitHostRefused) return adviseRefusal(failure)
  switch (failure._tag) {
    case "SettingMissing":
      return "Set it to use this part of the service; the rest works without"
    case "AuthenticationFailed":
      return "Check the user name and the credentials of the server in the settings"
    case "ServerUnreachable":
      return "Check that the server is up, and its host and port in the settings"
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
      return Either.match(readProxy(yield* readProxyText({ file, server })), {
        onLeft: (refusal) => ({
          name,
          ok: false,
          detail: `${file} on "${server.name}" can be read and written, and not edited: ${refusal.reason}`,
          fix: "Mend the file, or let proxy.configFile name the YAML file of Traefik that has the routes"
        }),
        onRight: () => ({ name, ok: true, detail: `${file} on "${server.name}" can be read and written` })
      })
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
    finding("trusted programs", checkTrust),
    finding("backups", checkUnkeptDatabases),
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
