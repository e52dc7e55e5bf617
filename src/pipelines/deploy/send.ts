import { Data, Effect, Option, Ref, type Scope, Stream } from "effect"
import type { ImageSource } from "../../remote/activation.ts"
import { parseReceived, pullImagesCommand, uploadCommand } from "../../remote/deploy.ts"
import type { ServerAccess, SshError } from "../../schema/ssh.ts"
import type { Stack } from "../../schema/stacks.ts"
import { appendSentence, formatBytes } from "../../schema/words.ts"
import { compress, hashStream } from "../../services/bytes.ts"
import { type ByteCount, countBytes } from "../../services/runs/events.ts"
import { emitOutput } from "../../services/runs/output.ts"
import { Steps } from "../../services/runs/Steps.ts"
import { logScrubbedWarning, type Settings, type SettingsError } from "../../services/settings/Settings.ts"
import { makeCommandFailed, scrubServerOutput, Ssh } from "../../services/ssh/Ssh.ts"
import { spawnWatched, type WatchedError } from "../../services/ssh/SshLive.ts"
import { LoadFailed, type RunningActivation } from "../activation/activate.ts"
import {
  buildImageSource,
  chooseFallback,
  computeTransferSize,
  describeArchiveRemedy,
  openTransferInput,
  shouldCompress,
  type Transfer
} from "../archive/transfer.ts"
import { type DeployFile, hashDeployFile, streamDeployFile, sumFileSizes } from "../projects/deployFiles.ts"
import { describeDockerRefusal } from "../servers/servers.ts"
import type { DeployDecision } from "./decide.ts"

const describeLoad = (transfer: Transfer, file: DeployFile | undefined): string => {
  switch (transfer.kind) {
    case "none":
      return "nothing to load"
    case "names":
      return `${file?.name}: the server has its images`
    case "built":
      return "the server has built the images"
    case "layers":
      return transfer.leftOut.size === 0
        ? file?.name ?? ""
        : `${formatBytes(transfer.size)} of ${file?.name}: the server has the rest`
    case "whole":
    case "file":
      return file?.name ?? ""
  }
}

const describeSent = (transfer: Transfer): string =>
  transfer.kind === "layers" && transfer.leftOut.size === 0
    ? "the archive under a name of the run"
    : "the partial archive"

/** containerd's error after garbage collection of an image that was just removed. */
const parentSnapshotMissing = /parent snapshot \S+ does not exist/

/**
 * Starts an activation and feeds it the images that the server lacks. After a rejection it retries with more of the
 * archive, finally with all of it, each time in a new activation. `sent` counts the bytes on the wire in all attempts.
 * @param isCompressed true if the stream is compressed on its way
 * @param begin starts the activation with the source of its images, and with standard input if there is any
 */
export const loadImages = Effect.fn("deploy.loadImages")(function*<R>(
  server: ServerAccess,
  { archive, facts, plan, transfer }: Pick<DeployDecision, "archive" | "facts" | "plan" | "transfer">,
  isCompressed: boolean,
  begin: (
    source: ImageSource,
    input: Stream.Stream<Uint8Array, { readonly message: string }> | undefined
  ) => Effect.Effect<RunningActivation, SettingsError | SshError, R>
) {
  const sent = yield* Ref.make(0)
  const onWire = <E>(bytes: Stream.Stream<Uint8Array, E>) =>
    Stream.tap(bytes, ({ length }) => Ref.update(sent, (sum) => sum + length))
  const attempt = (transfer: Transfer, isCompressed: boolean) =>
    Effect.gen(function*() {
      const bytes = yield* openTransferInput(transfer, plan.archive, (yield* Steps).run)
      const count = yield* countBytes("load", computeTransferSize(transfer, plan.archive))
      const counted = bytes === undefined ? undefined : count.passing(bytes)
      const input = counted === undefined ? undefined : onWire(isCompressed ? compress(counted) : counted)
      const activation = yield* begin(buildImageSource(transfer, plan.archive, archive, facts), input)
      yield* activation.loaded
      return { activation, detail: describeLoad(transfer, plan.archive) }
    })
  const load = (transfer: Transfer, isCompressed: boolean) =>
    Effect.retry(attempt(transfer, isCompressed), {
      times: 1,
      while: (error) => error._tag === "LoadFailed" && parentSnapshotMissing.test(error.reason)
    })
  type Load = ReturnType<typeof load>
  const loadOrFallBack = (
    transfer: Transfer,
    isCompressed: boolean
  ): Effect.Effect<
    Effect.Effect.Success<Load>,
    Effect.Effect.Error<Load>,
    Effect.Effect.Context<Load> | Settings | Ssh
  > =>
    Effect.catchTag(
      load(transfer, isCompressed),
      "LoadFailed",
      (error) =>
        Option.match(chooseFallback(transfer, plan.archive, archive, facts, error.reason), {
          onNone: () => error,
          onSome: (next) =>
            Effect.gen(function*() {
              yield* logScrubbedWarning(
                `The server rejected ${describeSent(transfer)}, so all of it is sent: ${error.reason}`
              )
              const { activation } = yield* loadOrFallBack(next, yield* shouldCompress(server, next, plan.archive))
              return {
                activation,
                detail: `all of ${plan.archive?.name}, since ${describeSent(transfer)} was rejected`
              }
            })
        })
    )
  const loaded = yield* loadOrFallBack(transfer, isCompressed).pipe(
    Effect.catchTag(
      "LoadFailed",
      ({ reason, state }) =>
        new LoadFailed({ reason: appendSentence(reason, describeArchiveRemedy(plan.archive, archive, reason)), state })
    )
  )
  return { ...loaded, sent: yield* sent }
})

/** A registry did not deliver an image. */
class PullRefused extends Data.TaggedError("PullRefused")<{
  readonly image: string
  readonly server: string
  /** Message of the registry or of Docker. */
  readonly words: string
}> {
  override get message() {
    const missing = /access denied|not found|unknown|does not exist/i.test(this.words)
    return `"${this.server}" cannot pull ${this.image}: ${this.words.replace(/\.$/, "")}` +
      (missing ? ". An image of the project's own comes in an archive (*.tar): build that first" : "")
  }
}

/** Pulling and unpacking layers prints nothing until it is done. */
const silence = "30 minutes"

/** Makes a server pull images from their registries. Images already pulled stay if a later one fails. */
export const pullImages = Effect.fn("deploy.pullImages")(function*(
  { remotePath, server }: Stack,
  names: ReadonlyArray<string>,
  containerdStore: boolean
): Effect.fn.Return<void, PullRefused | SshError | WatchedError, Scope.Scope | Settings | Ssh | Steps> {
  const output = yield* emitOutput("stdout")
  const command = pullImagesCommand(remotePath, names, containerdStore, server.useSudo)
  const process = yield* spawnWatched(server, command, { silence })
  let refused = names[0] ?? ""
  yield* Stream.runForEach(process.lines, (line) => {
    const [key, name = ""] = line.split("\t")
    if (key === "pull" || key === "refused") refused = name
    return key === "refused" || key === "pull" ? Effect.void : output.emit(`${line}\n`)
  })
  if ((yield* process.exit) === 0) return
  const words = describeDockerRefusal(scrubServerOutput(server, yield* process.stderr), server)
  return yield* new PullRefused({ image: refused, server: server.name, words })
})

// Three concurrent uploads leave a channel for the lock.
const uploadsAtOnce = 3

/** Uploads one file to its temporary path and verifies its size and sha256 on the server. */
const uploadFile = ({ remotePath, server }: Stack, file: DeployFile, count: ByteCount) =>
  Effect.gen(function*() {
    const ssh = yield* Ssh
    const command = uploadCommand(remotePath, file.name, file.mode)
    const { bytes, sha256 } = yield* hashStream(yield* streamDeployFile(file))
    const answer = yield* ssh.exec(server, command, { stdin: count.passing(bytes), timeout: "6 hours" })
    const failed = (words: string) => makeCommandFailed(server, command, answer.code, words)
    if (answer.code !== 0) return yield* failed(answer.stderr)
    const arrived = parseReceived(answer.stdout)
    const sent = yield* sha256
    if (!Option.exists(arrived, (received) => received.sha256 === sent && received.bytes === file.size)) {
      return yield* failed(`${file.name} did not arrive as it was sent, or changed while it was: deploy again`)
    }
  }).pipe(Effect.withSpan("deploy.uploadFile", { attributes: { name: file.name, bytes: file.size } }))

/**
 * Uploads files to temporary paths, from where the activation moves them. Skips files whose hash the server already
 * has.
 * @param known sha256 of the files on the server, by name
 * @returns the files that were sent
 */
export const uploadFiles = Effect.fn("deploy.upload")(function*(
  stack: Stack,
  files: ReadonlyArray<DeployFile>,
  known: ReadonlyMap<string, string>
) {
  const count = yield* countBytes("upload", sumFileSizes(files))
  const sent = yield* Effect.forEach(files, (file) =>
    Effect.gen(function*() {
      const remote = known.get(file.name)
      if (remote !== undefined && remote === (yield* hashDeployFile(file))) {
        yield* count.spare(file.size)
        return []
      }
      yield* uploadFile(stack, file, count)
      return [file]
    }), { concurrency: uploadsAtOnce })
  return sent.flat()
})
