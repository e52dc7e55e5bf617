import { Path } from "@effect/platform"
import { Array, Effect, Option } from "effect"
import { hostPortKey } from "../../schema/applications/hostPortKey.ts"
import { buildScriptName, shellScriptName } from "../../schema/projects/Build.ts"
import type { InitRequest, InitResult } from "../../schema/projects/Init.ts"
import {
  composeFileNames,
  containerConfigName,
  imageFileNames,
  type ProjectFileInvalid
} from "../../schema/projects/Project.ts"
import type { HostPortHidden, NoPortLeft } from "../../schema/routes/Route.ts"
import { formatServerReference } from "../../schema/servers/findServer.ts"
import { parseStackPath, type RemotePathInvalid } from "../../schema/servers/RemotePath.ts"
import type { ServerUnresolved } from "../../schema/servers/Server.ts"
import { type LocalEntry, LocalFiles } from "../../services/local/LocalFiles.ts"
import type { Platform } from "../../services/platform/Platform.ts"
import { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { firstPort } from "../ports/nextPort.ts"
import { portEvidence } from "../ports/portEvidence.ts"
import { parseEnv } from "../projects/compose/envText.ts"
import { readContainerConfig } from "../projects/files/containerConfig.ts"
import { writeOwnFile } from "../projects/files/ownFiles.ts"
import { findFirstNamed, findProjectFiles } from "../projects/files/projectFiles.ts"
import { readProjectText } from "../projects/files/readProjectText.ts"
import { type DirectoryRefused, resolveProjectDirectory } from "../projects/files/resolveProjectDirectory.ts"
import { inspectProject, resolveRemotePath } from "../projects/inspectProject.ts"
import { resolveServer } from "../projects/resolveServer.ts"
import { listComposeSources } from "./composeSources.ts"
import { renderComposeYaml, renderContainerJson, renderEnvFile, toDockerName } from "./deploymentFiles.ts"
import { findExposedPort } from "./findExposedPort.ts"
import { renderBuildScripts } from "./renderBuildScripts.ts"
import { renderDockerIgnore } from "./renderDockerIgnore.ts"

/** Quotes within a JSON string are escaped, so nothing else in a valid file matches this. */
const emptyServer = /("serverId"\s*:\s*)""/

/**
 * Fills in an empty `serverId` of a `container.json`, as `init` writes it if there are several servers. Leaves the rest
 * of the file as it is.
 * @returns true if the file is changed, or would be in a plan
 */
const fillServer = Effect.fn("init.fillServer")(function*(directory: string, server: string, isPlan: boolean) {
  if (server === "") return false
  // An unusable file is reported with the project's problems.
  const config = yield* Effect.option(readContainerConfig(directory))
  if (!Option.exists(config, ({ serverId }) => serverId === "")) return false
  const text = Option.getOrElse(yield* readProjectText(directory, containerConfigName), () => "")
  if (!emptyServer.test(text)) return false
  if (isPlan) return true
  const filled = text.replace(emptyServer, (_, before: string) => `${before}${JSON.stringify(server)}`)
  yield* writeOwnFile(directory, containerConfigName, filled)
  return true
})

const usualContainerPort = 3000

/**
 * Next port that nothing uses, including projects that are not deployed yet, or the first port if the lookup takes too
 * long. Fails if a used port may be hidden, because it could be assigned twice.
 */
const hostPortOf = portEvidence.pipe(
  Effect.map((next) => next.nextPort),
  Effect.timeoutTo({
    duration: "10 seconds",
    onSuccess: (port) => port,
    onTimeout: () => firstPort
  })
)

/** Names of the written files and of their equivalents. */
const providedNames = [
  containerConfigName,
  ...composeFileNames,
  ".env",
  buildScriptName,
  shellScriptName,
  ".dockerignore"
]

interface Wanted {
  /** The written file, followed by names of equivalent files. */
  readonly names: readonly [string, ...ReadonlyArray<string>]
  readonly content: string
  readonly mode: number
}

const provide =
  (directory: string, present: ReadonlyArray<LocalEntry>, isPlan: boolean) => ({ content, mode, names }: Wanted) =>
    Effect.gen(function*() {
      const files = yield* LocalFiles
      const path = yield* Path.Path
      const kept = findFirstNamed(present, names)
      if (Option.isSome(kept)) return { name: kept.value, created: false }
      if (isPlan) return { name: names[0], created: true }
      return { name: names[0], created: yield* files.create(path.join(directory, names[0]), content, { mode }) }
    })

/** `serverId` for `container.json`: the requested server, else the only one; empty if ambiguous. */
const serverToName = (wanted: string | null | undefined) =>
  Effect.gen(function*() {
    const settings = yield* Settings
    if (typeof wanted === "string") {
      const server = yield* settings.server(wanted)
      return formatServerReference(yield* settings.servers, server)
    }
    // Unreadable settings do not prevent preparing a project.
    const [only, ...others] = yield* Effect.orElseSucceed(settings.servers, () => [])
    return only === undefined || others.length > 0 ? "" : only.name
  })

/**
 * Writes the missing files of a project's deployment: `container.json`, `compose.yml`, `.env`, the build scripts and
 * `.dockerignore`. Existing files are not changed, except for an empty `serverId`.
 */
export const init = Effect.fn("init")(function*(
  { plan = false, projectPath, remotePath, serverId }: InitRequest
): Effect.fn.Return<
  InitResult,
  DirectoryRefused | HostPortHidden | NoPortLeft | ProjectFileInvalid | RemotePathInvalid | ServerUnresolved,
  LocalFiles | Path.Path | Platform | Settings | Ssh
> {
  const path = yield* Path.Path
  const directory = yield* resolveProjectDirectory(projectPath)
  const server = yield* serverToName(serverId)
  if (typeof remotePath === "string") yield* parseStackPath("remotePath", remotePath)
  const present = yield* findProjectFiles(directory, [...imageFileNames, ...providedNames])
  const base = path.basename(directory)
  const imageFile = Option.getOrElse(findFirstNamed(present, imageFileNames), () => imageFileNames[0])
  const imageText = Option.getOrElse(yield* readProjectText(directory, imageFile), () => "")
  const env = yield* readProjectText(directory, ".env")
  // If an existing .env names no port, the compose file decides it.
  const keptWithoutPort = Option.exists(env, (text) => parseEnv(text).every(({ key }) => key !== hostPortKey))
  const needsPort = Option.isNone(env) || keptWithoutPort
  const deployment = {
    name: toDockerName(base),
    imageFile,
    containerPort: Option.getOrElse(findExposedPort(imageText), () => usualContainerPort),
    hostPort: needsPort ? yield* hostPortOf : firstPort
  }
  const composeFile = findFirstNamed(present, composeFileNames)
  const compose = Option.isNone(composeFile)
    ? ""
    : Option.getOrElse(yield* readProjectText(directory, composeFile.value), () => "")
  // A stack of its own names its images, or builds them from directories of their own: it needs no script for one.
  const isOwnStack = Option.isSome(composeFile) &&
    Option.isNone(findFirstNamed(present, [buildScriptName, shellScriptName, ...imageFileNames]))
  const unlessOwn = (wanted: Wanted) =>
    isOwnStack && Option.isNone(findFirstNamed(present, wanted.names)) ? [] : [wanted]
  const scripts = yield* renderBuildScripts(directory, deployment)
  const hostPort = keptWithoutPort ? `\${${hostPortKey}:-${deployment.hostPort}}` : `\${${hostPortKey}}`

  const envFile: Wanted = { names: [".env"], content: renderEnvFile(deployment), mode: 0o600 }
  const files: ReadonlyArray<Wanted> = [
    {
      names: [containerConfigName],
      content: renderContainerJson(
        remotePath ?? resolveRemotePath({}, base),
        server,
        yield* listComposeSources(directory, compose)
      ),
      mode: 0o644
    },
    { names: composeFileNames, content: renderComposeYaml(deployment, hostPort), mode: 0o644 },
    ...compose.includes(hostPortKey) ? [envFile] : unlessOwn(envFile),
    ...scripts.flatMap(({ content, name }) => unlessOwn({ names: [name], content, mode: 0o755 })),
    ...unlessOwn({ names: [".dockerignore"], content: renderDockerIgnore(imageText), mode: 0o644 })
  ]
  const isFilled = yield* fillServer(directory, server, plan)
  const outcomes = yield* Effect.forEach(files, provide(directory, present, plan))
  const stored = yield* Effect.orElseSucceed((yield* Settings).servers, () => [])
  const project = resolveServer(stored)(yield* inspectProject(directory))
  const [kept, created] = Array.partition(outcomes, (outcome) => outcome.created)
  return {
    success: true,
    created: created.map(({ name }) => name),
    ...isFilled ? { changed: [containerConfigName] } : {},
    kept: kept.map(({ name }) => name).filter((name) => !isFilled || name !== containerConfigName),
    project
  }
})
