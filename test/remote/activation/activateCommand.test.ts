import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { activateCommand } from "../../../src/remote/activateCommand.ts"
import { renderCommand } from "../../../src/services/ssh/loginShell.ts"

describe("the command of an activation", () => {
  it.effect.each([true, false])(
    "fits into the one packet that small SSH servers take, with its arguments (sudo: %s)",
    (sudo) =>
      Effect.gen(function*() {
        const text = yield* renderCommand(
          activateCommand({
            run: "00000000-0000-0000-0000-000000000000",
            remotePath: "~/containers/shop",
            composeKind: "v2",
            composeVersion: "2.32.4",
            composeFile: "compose.yml",
            containerdStore: false,
            source: { from: "none", archive: "", platform: "", names: [], format: "", expected: "" },
            stagedFiles: 2,
            envFiles: { brought: [".env"], gone: [] },
            images: ["shop:latest"],
            release: ["by\tann"]
          }, sudo)
        )
        // The most is 35,000 bytes; names and ids of images and files need some of it.
        expect(Buffer.byteLength(text)).toBeLessThan(33_000)
      })
  )
})
