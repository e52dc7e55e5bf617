import { Document } from "yaml"
import { hostPortKey } from "../../schema/applications/hostPortKey.ts"

/** Values for the templates of a project's files. */
export interface NewDeployment {
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
export const renderContainerJson = (remotePath: string, server: string, files: ReadonlyArray<string>): string =>
  `${JSON.stringify({ serverId: server, remotePath, files, bridged: [] }, undefined, 2)}\n`

/** `.env`: the server's port for the container. */
export const renderEnvFile = ({ hostPort }: NewDeployment): string => `${hostPortKey}=${hostPort}\n`

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
        ports: [`${hostPort}:${containerPort}`]
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
