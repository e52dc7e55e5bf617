import { Config, Effect, Schema, Stream } from "effect"
import { nameItemFile } from "../../remote/backups.ts"
import type { BackupVerified } from "../../schema/backups.ts"
import { hashStream } from "../../services/bytes.ts"
import { LocalProcesses } from "../../services/local/LocalProcesses.ts"
import {
  CopyFailed,
  copyName,
  type CopyPlace,
  failedAt,
  manifestName,
  nameCopy,
  newestFirst,
  type PlaceServices,
  toKeptCopy
} from "./copyPlaces.ts"

const reference = /^\$\{env:([^{}]+)\}$/

/** Repository as it is written, or the value of the variable that is written in its place. */
const resolveRepository = (to: string, written: string) => {
  const [, name] = reference.exec(written) ?? []
  if (name === undefined) {
    return written.includes("${")
      ? new CopyFailed({ to, reason: "repository takes ${env:NAME} only as a whole" })
      : Effect.succeed(written)
  }
  const reason = `the environment variable ${name} of this service is not set, which repository names`
  return Config.string(name).pipe(
    Effect.filterOrFail((value) => value !== "", () => undefined),
    Effect.mapError(() => new CopyFailed({ to, reason }))
  )
}

const Snapshots = Schema.NullOr(Schema.Array(Schema.Struct({ paths: Schema.Array(Schema.String) })))
const decodeSnapshots = Schema.decodeUnknown(Schema.parseJson(Snapshots))

const mostListed = 32 * 1024 * 1024
const longestListing = "2 minutes"
/** Copies whose manifest is read; those before are not listed. */
const mostUnknown = 20

const password = /\/\/[^/@\s]*@/g

/**
 * Opens a repository of restic, which keeps each file of a copy as a snapshot. The manifest comes last: without it a copy
 * is not listed. Old ones stay until `restic forget` removes them.
 */
export const openRestic = (to: string, written: string, directory: string) =>
  Effect.map(resolveRepository(to, written), (repository): CopyPlace => {
    const scrub = (text: string) => text.replaceAll(repository, written).replaceAll(password, "//***@")
    const failed = (error: { readonly message: string }) => failedAt(to)({ message: scrub(error.message) })
    const variables = { RESTIC_REPOSITORY: repository, RESTIC_REPOSITORY_FILE: "" }
    const restic = (args: ReadonlyArray<string>, input?: Stream.Stream<Uint8Array, CopyFailed>) =>
      Stream.unwrap(
        Effect.map(LocalProcesses, ({ stream }) => stream({ program: "restic", args, variables }, input))
      ).pipe(Stream.mapError((error) => error instanceof CopyFailed ? error : failed(error)))
    const locate = (name: string, file: string) => `/${directory}/${name}/${file}`
    const read: CopyPlace["read"] = (name, file) => {
      const path = locate(name, file)
      return restic(["dump", "--path", path, "latest", path])
    }
    const write: CopyPlace["write"] = (name, file, bytes) =>
      Stream.runDrain(restic([
        "backup",
        "--quiet",
        "--host",
        "berth",
        "--tag",
        directory,
        "--stdin",
        "--stdin-filename",
        locate(name, file)
      ], bytes))
    const readText = (bytes: Stream.Stream<Uint8Array, CopyFailed, PlaceServices>) => {
      let length = 0
      return bytes.pipe(
        Stream.tap((chunk) => {
          length += chunk.length
          return length <= mostListed ? Effect.void : new CopyFailed({ to, reason: "restic prints more than 32 MiB" })
        }),
        Stream.decodeText(),
        Stream.mkString,
        Effect.timeoutFail({
          duration: longestListing,
          onTimeout: () => new CopyFailed({ to, reason: "restic has not answered for 2 minutes" })
        })
      )
    }
    return {
      to,
      list: (known) =>
        Effect.gen(function*() {
          const text = yield* readText(restic(["snapshots", "--json", "--tag", directory]))
          const snapshots = yield* Effect.mapError(
            decodeSnapshots(text),
            () => new CopyFailed({ to, reason: "restic lists its snapshots in words of another version" })
          )
          const names = new Set((snapshots ?? []).flatMap(({ paths: [path = ""] }) => {
            const [, stack, name = "", file] = path.split("/")
            return stack === directory && file === manifestName && copyName.test(name) ? [name] : []
          }))
          const familiar = known.flatMap((backup) => {
            const name = nameCopy(backup)
            return names.delete(name) ? [{ name, backup }] : []
          })
          const unknown = [...names].toSorted((one, other) => other.slice(-16).localeCompare(one.slice(-16)))
          const others = yield* Effect.forEach(
            unknown.slice(0, mostUnknown),
            (name) =>
              Effect.map(readText(read(name, manifestName)), (manifest) => toKeptCopy(name, manifest.split("\n"))),
            { concurrency: 4 }
          )
          return { copies: newestFirst([...familiar, ...others]), free: Number.POSITIVE_INFINITY }
        }),
      read,
      write,
      verify: (name, items) =>
        Effect.gen(function*() {
          const services = yield* Effect.context<PlaceServices>()
          const found = yield* Effect.forEach(items, (item) =>
            Effect.gen(function*() {
              const { bytes, sha256 } = yield* hashStream(
                Stream.provideContext(read(name, nameItemFile(item.name)), services)
              )
              yield* Stream.runDrain(bytes)
              const state = (yield* sha256) === item.sha256 ? "whole" as const : "changed" as const
              return { name: item.name, state }
            }))
          const verified: BackupVerified = {
            whole: found.length > 0 && found.every(({ state }) => state === "whole"),
            items: found
          }
          return verified
        }),
      keep: (name, manifest) =>
        write(name, manifestName, Stream.make(new TextEncoder().encode([...manifest, ""].join("\n"))))
    }
  })
