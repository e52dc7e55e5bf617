import { Effect, Either } from "effect"
import { mergeComposeTexts } from "../../remote/deploy.ts"
import type { RemoteRelease } from "../../remote/releases.ts"
import {
  type ComparedService,
  type Release,
  type ReleaseComparison,
  type ReleaseImage,
  ReleaseNotFound,
  type ReleasesFailed,
  ReleaseUnavailable
} from "../../schema/releases.ts"
import type { RemoteCommandFailed, SshError } from "../../schema/ssh.ts"
import type { Stack } from "../../schema/stacks.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import { normalizeImageName, type Ssh } from "../../services/ssh/Ssh.ts"
import { listReleaseFiles } from "../activation/unhealthy.ts"
import { parseServiceDefinitions } from "../projects/compose.ts"
import { resolveStack, type StackRefused } from "../projects/places.ts"
import { readReleases } from "../servers/servers.ts"

const shortId = (id: string) => id.slice(0, "sha256:".length + 12)

/**
 * Selects the release of a rollback: the requested one, else the one before the current one, else the newest one if
 * what runs is not a release. Fails if there is none, or if the server lacks one of its images.
 * @param releases the newest first
 */
export const chooseRelease = (
  releases: ReadonlyArray<RemoteRelease>,
  wanted: string | null,
  { remotePath, server: { name: server } }: Stack
): Either.Either<RemoteRelease, ReleaseNotFound | ReleaseUnavailable> => {
  const at = releases.findIndex(({ isCurrent }) => isCurrent)
  const current = releases[at]?.id ?? null
  const chosen = wanted === null ? releases[at + 1] : releases.find(({ id }) => id === wanted)
  if (chosen === undefined) {
    const known = releases.map(({ id }) => id)
    return Either.left(new ReleaseNotFound({ release: wanted, remotePath, server, known, current }))
  }
  if (chosen.missing.length === 0) return Either.right(chosen)
  return Either.left(
    new ReleaseUnavailable({
      release: chosen.id,
      server,
      missing: chosen.missing.map(({ id, name }) => id === name ? shortId(id) : `${name} (${shortId(id)})`),
      current,
      available: releases.filter(({ isCurrent, missing }) => !isCurrent && missing.length === 0).map(({ id }) => id)
    })
  )
}

/** A release as callers see it. */
export const toRelease = (release: RemoteRelease): Release => {
  const { at, id, images, isCurrent, manifest, missing } = release
  return {
    id,
    at,
    by: manifest.by,
    images,
    files: listReleaseFiles(release),
    ...manifest.source === undefined ? {} : { source: manifest.source },
    ...manifest.environment === undefined ? {} : { environment: manifest.environment },
    current: isCurrent,
    available: missing.length === 0
  }
}

/** Releases in a directory of a server, newest first. */
export const listReleases = Effect.fn("listReleases")(function*(
  serverId: string,
  remotePath: string
): Effect.fn.Return<ReadonlyArray<Release>, ReleasesFailed | StackRefused, Settings | Ssh> {
  const stack = yield* resolveStack({ remotePath, serverId })
  return (yield* readReleases(stack)).map(toRelease)
})

const listVariableFiles = ({ variableFiles }: RemoteRelease["manifest"]) =>
  variableFiles.length === 0 ? [".env"] : variableFiles

const listStackTexts = (
  manifest: RemoteRelease["manifest"]
) => [...manifest.composeFiles, ...listVariableFiles(manifest)]

/**
 * Image of each service of a release; null if its compose file names none or the release does not record it.
 * @param texts texts of its compose file and its `.env`
 */
const serviceImages = (texts: ReadonlyMap<string, string>, { images, manifest }: RemoteRelease) => {
  const noted = new Map(images.map((image) => [normalizeImageName(image.name), image]))
  const definitions = parseServiceDefinitions(
    mergeComposeTexts(manifest.composeFiles.map((name) => texts.get(name) ?? "")),
    listVariableFiles(manifest).map((name) => texts.get(name) ?? "").join("\n")
  )
  return new Map(manifest.services.map(({ name }) => {
    const image = definitions.get(name)?.image
    return [name, image === undefined ? null : noted.get(normalizeImageName(image)) ?? null] as const
  }))
}

const changeOfImage = (from: ReleaseImage | null | undefined, to: ReleaseImage | null | undefined) => {
  if (from === undefined) return "new"
  if (to === undefined) return "removed"
  return from?.id === to?.id && from?.name === to?.name ? "same" : "changed"
}

const compareServices = (
  from: ReadonlyMap<string, ReleaseImage | null>,
  to: ReadonlyMap<string, ReleaseImage | null>
): ReadonlyArray<ComparedService> =>
  [...new Set([...from.keys(), ...to.keys()])].toSorted().map((name) => ({
    name,
    change: changeOfImage(from.get(name), to.get(name)),
    from: from.get(name) ?? null,
    to: to.get(name) ?? null
  }))

/**
 * Compares two releases that a server keeps: the image of each service, and the files by their hashes. Small texts that
 * differ come with a diff; of env files only the names of variables are listed.
 * @param to the current one unless given, or the newest where none is current
 */
export const compareReleases = Effect.fn("compareReleases")(function*(
  serverId: string,
  { from: wantedFrom, remotePath, to: wantedTo }: {
    readonly remotePath: string
    readonly from: string
    readonly to?: string | undefined
  }
): Effect.fn.Return<
  ReleaseComparison,
  ReleaseNotFound | ReleasesFailed | RemoteCommandFailed | SshError | StackRefused,
  Settings | Ssh
> {
  const stack = yield* resolveStack({ remotePath, serverId })
  const { remotePath: path, server } = stack
  const releases = yield* readReleases(stack)
  const current = releases.find(({ isCurrent }) => isCurrent)
  const find = (wanted: string) => {
    const found = releases.find(({ id }) => id === wanted)
    return found === undefined
      ? new ReleaseNotFound({
        release: wanted,
        remotePath: path,
        server: server.name,
        known: releases.map(({ id }) => id),
        current: current?.id ?? null
      })
      : Effect.succeed(found)
  }
  const from = yield* find(wantedFrom)
  const to = yield* find(wantedTo ?? (current ?? releases[0] ?? from).id)
  // Loaded on first use, because it reads and compares texts.
  const {
    compareFileHashes: changeOf,
    readRemoteInventory: inventoryOf,
    readTexts,
    formatReleaseDirectory: releaseSide,
    withDifferences
  } = yield* Effect.promise(() => import("./changedFiles.ts"))
  const sides = [releaseSide(path, from.id), releaseSide(path, to.id)] as const
  const [before, after, textsBefore, textsAfter] = yield* Effect.all([
    inventoryOf(server, sides[0], listReleaseFiles(from)),
    inventoryOf(server, sides[1], listReleaseFiles(to)),
    readTexts(server, sides[0], listStackTexts(from.manifest)),
    readTexts(server, sides[1], listStackTexts(to.manifest))
  ], { concurrency: 4 })
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted()
  const files = names.map((name) => ({ name, change: changeOf(before.get(name), after.get(name)) }))
  return {
    serverId: server.id,
    remotePath: path,
    from: toRelease(from),
    to: toRelease(to),
    services: compareServices(serviceImages(textsBefore, from), serviceImages(textsAfter, to)),
    files: yield* withDifferences(server, sides, [before, after], files, [
      ...from.manifest.envFiles,
      ...to.manifest.envFiles
    ], [...from.manifest.privateFiles, ...to.manifest.privateFiles])
  }
})
