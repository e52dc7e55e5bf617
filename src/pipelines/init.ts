import { Path } from "@effect/platform"
import { Array, Effect, Either, Option, Predicate } from "effect"
import { Document } from "yaml"
import { parseComposeContent } from "../remote/deploy.ts"
import { hostPortKey } from "../schema/declaredFields.ts"
import {
  buildScriptName,
  composeFileNames,
  containerConfigName,
  imageFileNames,
  type InitRequest,
  type InitResult,
  platformFileName,
  type ProjectFileInvalid,
  shellScriptName
} from "../schema/projects.ts"
import type { HostPortHidden, NoPortLeft } from "../schema/routes.ts"
import {
  formatServerReference,
  parseStackPath,
  type RemotePathInvalid,
  type ServerUnresolved
} from "../schema/servers.ts"
import { changelogFileName } from "../schema/upsert.ts"
import { type LocalEntry, type LocalFileFailed, LocalFiles } from "../services/local/LocalFiles.ts"
import type { Platform } from "../services/platform/Platform.ts"
import { Settings } from "../services/settings/Settings.ts"
import type { Ssh } from "../services/ssh/Ssh.ts"
import { firstPort, portEvidence } from "./ports.ts"
import {
  findFirstNamed,
  findProjectFiles,
  readContainerConfig,
  readProjectText,
  resolveRemotePath
} from "./projects/files.ts"
import { interpolate, parseEnv } from "./projects/interpolate.ts"
import { normalizeRelativeName, writeOwnFile } from "./projects/paths.ts"
import { inspectProject, resolveServer } from "./projects/projects.ts"
import { type DirectoryRefused, resolveProjectDirectory } from "./projects/trust.ts"

/** Values for the templates of a project's files. */
interface NewDeployment {
  /** Name that is valid for an image, a service and a container in Docker. */
  readonly name: string
  readonly imageFile: string
  readonly containerPort: number
  readonly hostPort: number
}

/** Derives a name that is valid for a Docker image, service and container from a directory's name. */
export const toDockerName = (directoryName: string): string => {
  const plain = directoryName.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase()
  const name = plain.replace(/[^a-z0-9]+/g, "-").slice(0, 60).replace(/^-+|(?<!-)-+$/g, "")
  return name === "" ? "app" : name
}

/** `container.json`; leaves an unknown server and the optional services to fill in. */
const renderContainerJson = (remotePath: string, server: string, files: ReadonlyArray<string>): string =>
  `${JSON.stringify({ serverId: server, remotePath, files, bridged: [] }, undefined, 2)}\n`

/** `.env`: the server's port for the container. */
const renderEnvFile = ({ hostPort }: NewDeployment): string => `${hostPortKey}=${hostPort}\n`

/**
 * `compose.yml`: one service that runs the built image.
 * @param hostPort reference to the port in the file: `${HOST_PORT}`
 */
export const renderComposeYaml = ({ containerPort, name }: NewDeployment, hostPort: string): string => {
  const stack = {
    services: {
      [name]: {
        image: `${name}:latest`,
        container_name: name,
        restart: "unless-stopped",
        env_file: [".env"],
        ports: [`${hostPort}:${containerPort}`],
        // Docker's own default lets a log grow until the disk is full.
        logging: { driver: "json-file", options: { "max-size": "10m", "max-file": "3" } }
      }
    }
  }
  // Older YAML parsers assume version 1.1, in which a name like 123 or "on" needs quotes.
  return new Document(stack, { version: "1.1" }).toString({ directives: false })
}

/** `build-image-tar.ps1`: builds the image and saves it; runs under PowerShell on Linux, macOS and Windows. */
export const renderPowerShellScript = ({ imageFile, name }: NewDeployment): string =>
  `#!/usr/bin/env pwsh
# Builds the image of this project and saves it as ${name}.tar, which a deploy brings to the server.
# A server of another architecture needs a platform: $env:BUILD_PLATFORM = 'linux/arm64'
$ErrorActionPreference = 'Stop'
$PSNativeCommandUseErrorActionPreference = $false
Set-Location -LiteralPath $PSScriptRoot

$image = '${name}:latest'
$archive = '${name}.tar'
$platform = @()
if ($env:BUILD_PLATFORM) { $platform = @('--platform', $env:BUILD_PLATFORM) }

# Unless .dockerignore excludes it, the archive of the last build would become part of this image.
if (Test-Path -LiteralPath $archive) { Remove-Item -LiteralPath $archive -Force }

docker build @platform --tag $image --file '${imageFile}' .
if ($LASTEXITCODE -ne 0) { exit $LASTEXITCODE }

docker save --output $archive $image
if ($LASTEXITCODE -ne 0) {
  if (Test-Path -LiteralPath $archive) { Remove-Item -LiteralPath $archive -Force }
  exit $LASTEXITCODE
}
Write-Output "Saved $image as $archive"
exit 0
`

/** `build-image-tar.sh`: the same for any POSIX shell. */
export const renderShellScript = ({ imageFile, name }: NewDeployment): string =>
  `#!/bin/sh
# Builds the image of this project and saves it as ${name}.tar, which a deploy brings to the server.
# A server of another architecture needs a platform: BUILD_PLATFORM=linux/arm64
set -eu
directory=$(dirname -- "$0")
CDPATH='' cd -- "$directory"

image='${name}:latest'
archive='${name}.tar'

# Unless .dockerignore excludes it, the archive of the last build would become part of this image.
rm -f -- "$archive"

docker build \${BUILD_PLATFORM:+--platform "$BUILD_PLATFORM"} --tag "$image" --file '${imageFile}' .

docker save --output "$archive" "$image" || {
  code=$?
  rm -f -- "$archive"
  exit "$code"
}
echo "Saved $image as $archive"
`

const instruction = /^(from|arg|env|expose)\s+(\S[^]*)$/i
const pair = /(?<![A-Za-z0-9_])([A-Za-z_][A-Za-z0-9_]*)=(?:"([^"]*)"|'([^']*)'|(\S*))/g

/** The variables that an `ARG` or `ENV` line sets, in either of its forms. */
const assigned = (text: string): ReadonlyArray<readonly [string, string]> => {
  const pairs = [...text.matchAll(pair)].map(([, name = "", double, single, plain]) =>
    [name, double ?? single ?? plain ?? ""] as const
  )
  const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)\s+(\S[^]*)$/.exec(text) ?? []
  return pairs.length > 0 || name === undefined || value === undefined ? pairs : [[name, value]]
}

const portOf = (text: string): Option.Option<number> => {
  const [, first] = /^(\d{1,5})(?:-\d+)?(?:\/tcp)?$/i.exec(text) ?? []
  return Option.filter(Option.fromNullable(first).pipe(Option.map(Number)), (port) => port >= 1 && port <= 65535)
}

/** First TCP port exposed in the last stage of an image build file, else in an earlier stage. */
export const findExposedPort = (imageFile: string): Option.Option<number> => {
  const values = new Map<string, string>()
  const stages: Array<Array<number>> = [[]]
  for (const line of imageFile.replace(/\\[ \t]*\r?\n/g, " ").split(/\r?\n/)) {
    const [, word = "", rest = ""] = instruction.exec(line.trim()) ?? []
    const keyword = word.toLowerCase()
    if (keyword === "from") stages.push([])
    if (keyword === "arg" || keyword === "env") {
      for (const [name, value] of assigned(rest)) values.set(name, interpolate(value, values).text)
    }
    if (keyword === "expose") {
      const ports = interpolate(rest, values).text.split(/\s+/).map(portOf)
      stages.at(-1)?.push(...Array.getSomes(ports))
    }
  }
  return Option.fromNullable(stages.toReversed().flat()[0])
}

/** Directory that a stack writes itself. */
const ownData = /^data(?:\/|$)/

/** Path on the host of a mount, `./nginx.conf:/etc/nginx.conf:ro` or its long form; undefined for a volume's name. */
const findMountSource = (mount: unknown): string | undefined => {
  if (Predicate.isString(mount)) return /^(\.[^:]*):/.exec(mount)?.[1]
  return Predicate.isRecord(mount) && mount["type"] === "bind" && Predicate.isString(mount["source"])
    ? mount["source"]
    : undefined
}

const findContext = (build: unknown): string | undefined => {
  const context = Predicate.isRecord(build) ? build["context"] : build
  return Predicate.isString(context) ? context : undefined
}

const listServices = (content: unknown) => {
  const services = Predicate.isRecord(content) ? content["services"] : undefined
  return Object.values(Predicate.isRecord(services) ? services : {}).filter(Predicate.isRecord)
}

const listSources = (content: unknown): ReadonlyArray<string> =>
  listServices(content).flatMap((service) => {
    const mounts = Array.ensure(service["volumes"] ?? []).map(findMountSource)
    return [findContext(service["build"]), ...mounts].filter((source) => source !== undefined)
  })

/** False if every service names another image than that of a build script. An unknown image may be the one. */
const mayRunImage = (content: unknown, name: string): boolean => {
  const images = listServices(content).map(({ image }) => image)
  return images.length === 0 ||
    images.some((image) =>
      !Predicate.isString(image) || image.includes("$") || image === name || image.startsWith(`${name}:`)
    )
}

/**
 * Lists what a compose file needs beside it: directories that services are built from, and mounted files and directories.
 * Only what exists in the project, is no reference and lies below it, but not what the stack writes to `data`.
 * @param text content of the compose file
 */
const listComposeSources = Effect.fn("init.listComposeSources")(function*(
  directory: string,
  text: string
): Effect.fn.Return<ReadonlyArray<string>, LocalFileFailed, LocalFiles | Path.Path> {
  const files = yield* LocalFiles
  const path = yield* Path.Path
  const named = listSources(parseComposeContent(text)).flatMap((source) =>
    source.includes("$")
      ? []
      : Either.match(normalizeRelativeName(source), { onLeft: () => [], onRight: (name) => [name] })
  )
  const names = Array.dedupe(named).filter((name) => !ownData.test(name))
  return yield* Effect.filter(names, (name) => Effect.map(files.find(path.join(directory, name)), Option.isSome))
})

interface Script {
  readonly name: string
  readonly content: string
}

/** A checkout on Windows may have changed the line endings. */
const isWritten = (content: string, text: string) => text.replaceAll("\r\n", "\n") === content

/**
 * Build scripts that a project should have. Both, unless it has one that `init` did not write: a generated script next
 * to it would build something else if PowerShell is missing.
 */
const renderBuildScripts = (
  directory: string,
  deployment: NewDeployment
): Effect.Effect<ReadonlyArray<Script>, never, LocalFiles | Path.Path> =>
  Effect.gen(function*() {
    const scripts: ReadonlyArray<Script> = [
      { name: buildScriptName, content: renderPowerShellScript(deployment) },
      { name: shellScriptName, content: renderShellScript(deployment) }
    ]
    const found = yield* Effect.forEach(scripts, ({ content, name }) =>
      Effect.map(
        Effect.either(readProjectText(directory, name)),
        Either.match({
          onLeft: () => "own",
          onRight: Option.match({
            onNone: () => "missing",
            onSome: (text) => isWritten(content, text) ? "written" : "own"
          })
        })
      ))
    return found.includes("own") ? scripts.filter((_, index) => found[index] !== "missing") : scripts
  })

const archive = "*.tar"
/** Files that never belong in an image: old archives, the server's own data, and files that only Berth reads. */
const ignored = [
  archive,
  ".env",
  "data",
  containerConfigName,
  platformFileName,
  changelogFileName,
  buildScriptName,
  shellScriptName
]

const isIgnored = (path: string): boolean =>
  ignored.some((name) => name === archive ? /^[^/]+\.tar$/.test(path) : path === name || path.startsWith(`${name}/`))

const words = (text: string): ReadonlyArray<string> =>
  text.startsWith("[") ? [...text.matchAll(/"([^"]*)"/g)].map(([, word = ""]) => word) : text.split(/\s+/)

/** Project files that an image build file copies by name. */
const copied = (imageFile: string): ReadonlyArray<string> =>
  imageFile.replace(/\\[ \t]*\r?\n/g, " ").split(/\r?\n/).flatMap((line) => {
    const [, flags = "", rest = ""] = /^(?:copy|add)\s+((?:--\S+\s+)*)(\S[^]*)$/i.exec(line.trim()) ?? []
    return /(^|\s)--from=/.test(flags) ? [] : words(rest).slice(0, -1)
  }).map((path) => path.replace(/^\.?\/+/, "").replace(/(?<!\/)\/+$/, ""))

/** `.dockerignore`: keeps unneeded files out of the image, except those that its build file copies. */
export const renderDockerIgnore = (imageFile: string): string => {
  const wanted = [...new Set(copied(imageFile).filter(isIgnored))]
  return [
    "# What no build of this project may pack into the image:",
    ...ignored,
    ...(wanted.length === 0
      ? []
      : ["# but for what the build file copies by name:", ...wanted.map((path) => `!${path}`)]),
    ""
  ].join("\n")
}

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
  const hasScript = Option.isSome(findFirstNamed(present, [buildScriptName, shellScriptName]))
  const builds = !hasScript &&
    listServices(parseComposeContent(compose)).some(({ build }) => Predicate.isNotNullable(build))
  const runsBuiltImage = Option.isSome(findFirstNamed(present, imageFileNames)) &&
    mayRunImage(parseComposeContent(compose), deployment.name)
  // A stack of its own names its images, or builds them by itself. A script would build another one in their place.
  const isOwnStack = builds || Option.isSome(composeFile) && !hasScript && !runsBuiltImage
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
    ...builds ? { builds } : {},
    project
  }
})
