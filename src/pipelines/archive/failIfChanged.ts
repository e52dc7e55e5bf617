import { Effect, Stream } from "effect"
import { LocalFileFailed } from "../../services/local/LocalFiles.ts"

/** Fails if a file no longer has the expected size in bytes. */
export const failIfChanged = (path: string, size: number) => <E>(bytes: Stream.Stream<Uint8Array, E>) =>
  Stream.suspend(() => {
    let seen = 0
    return bytes.pipe(
      Stream.tap((chunk) =>
        Effect.sync(() => {
          seen += chunk.length
        })
      ),
      Stream.concat(Stream.suspend(() =>
        seen === size
          ? Stream.empty
          : Stream.fail(new LocalFileFailed({ path, reason: "changed while it was being sent: deploy again" }))
      ))
    )
  })
