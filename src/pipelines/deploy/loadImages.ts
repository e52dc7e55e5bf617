import { Effect, Option, Ref, Stream } from "effect"
import type { ImageSource } from "../../remote/activation/activateCommand.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import type { SshError } from "../../schema/servers/Ssh.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { formatBytes } from "../../schema/words/formatBytes.ts"
import { appendSentence } from "../../schema/words/quoted.ts"
import { compress } from "../../services/bytes/gzip.ts"
import { countBytes } from "../../services/runs/events/countBytes.ts"
import { Steps } from "../../services/runs/Steps.ts"
import { logScrubbedWarning } from "../../services/secrets/secretsInUse.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { LoadFailed, type RunningActivation } from "../activation/activate.ts"
import { shouldCompress } from "../archive/shouldCompress.ts"
import {
  buildImageSource,
  chooseFallback,
  computeTransferSize,
  describeArchiveRemedy,
  openTransferInput,
  type Transfer
} from "../archive/transfer.ts"
import type { DeployFile } from "../projects/deployFiles.ts"
import type { DeployDecision } from "./DeployDecision.ts"

const describeLoad = (transfer: Transfer, file: DeployFile | undefined): string => {
  switch (transfer.kind) {
    case "none":
      return "nothing to load"
    case "names":
      return `${file?.name}: the server has its images`
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
        Option.match(chooseFallback(transfer, error.reason), {
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
