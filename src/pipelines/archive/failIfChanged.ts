import { Effect, Stream } from "effect"
import { LocalFileFailed } from "../../services/local/LocalFiles.ts"

/** Fails when the bytes of a file are not as many as they were. */
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
