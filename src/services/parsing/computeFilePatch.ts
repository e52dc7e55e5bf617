import { Effect } from "effect"

/** Unified diff of two versions of a file. Few requests need it: the library is loaded with the first of them. */
export const computeFilePatch = (file: string, before: string, after: string): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => import("diff")),
    ({ createTwoFilesPatch, FILE_HEADERS_ONLY }) =>
      createTwoFilesPatch(file, file, before, after, undefined, undefined, {
        context: 3,
        headerOptions: FILE_HEADERS_ONLY
      })
  )
