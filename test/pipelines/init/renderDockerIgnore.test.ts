import { describe, expect, it } from "vitest"
import { renderDockerIgnore } from "../../../src/pipelines/init.ts"

const keptIn = (imageFile: string) => renderDockerIgnore(imageFile).split("\n").filter((line) => line.startsWith("!"))

describe("dockerIgnore", () => {
  it("keeps both build scripts out of the image", () => {
    expect(renderDockerIgnore("").split("\n")).toEqual(
      expect.arrayContaining(["build-image-tar.ps1", "build-image-tar.sh"])
    )
  })

  it.each<[string, ReadonlyArray<string>]>([
    ["", []],
    ["FROM a\nCOPY . /app\nCOPY src /src\n", []],
    ["FROM a\nADD rootfs.tar /\n", ["!rootfs.tar"]],
    ["FROM a\nADD https://example.com/a.tar files/b.tar /\n", []],
    ["FROM a\ncopy --chown=1:1 --link ./data/seed.json /.env package.json ./\n", ["!data/seed.json", "!.env"]],
    ["FROM a\nCOPY [\"data/\", \"platform.json\", \"/app dir/\"]\n", ["!data", "!platform.json"]],
    ["FROM a\nCOPY --chown=1 --from=build .env /\nCOPY \\\n  .env \\\n  /app/\nCOPY .env /b\n", ["!.env"]],
    ["FROM a\n# COPY .env /\nRUN cp .env /\nCOPY src .env\n", []]
  ])("of %j lets in %j", (imageFile, kept) => {
    expect(keptIn(imageFile)).toEqual(kept)
  })
})
