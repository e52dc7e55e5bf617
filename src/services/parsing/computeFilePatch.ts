import { Effect } from "effect"

/** Makes a unified diff of two versions of a file. The library is loaded on first use. */
export const computeFilePatch = (file: string, before: string, after: string): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => import("diff")),
    ({ createTwoFilesPatch, FILE_HEADERS_ONLY }) =>
      createTwoFilesPatch(file, file, before, after, undefined, undefined, {
        context: 3,
        headerOptions: FILE_HEADERS_ONLY
      })
  )
