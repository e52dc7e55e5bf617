import { expect, it } from "@effect/vitest"
import { partialLoad } from "../../../../src/pipelines/archive/imageTar.ts"

it.each([
  ["20.10.24", "overlay2", "", "direct"],
  ["29.7.2", "overlay2", "", "direct"],
  ["24.0.7", "containerd", "1.43", "none"],
  ["25.0.5", "containerd", "1.44", "listed"],
  ["26.1.5", "containerd", "1.45", "listed"],
  ["27.5.1", "containerd", "1.47", "none"],
  ["28.5.2", "containerd", "1.51", "verified"],
  ["29.7.2", "containerd", "1.52", "verified"],
  // An older command line.
  ["29.7.2", "containerd", "1.47", "none"],
  ["29.7.2", "containerd", "", "none"]
])(
  "Docker %s on %s with the API %s loads a part of an archive: %s",
  (engine, store, api, expected) =>
    expect(partialLoad({ engine, api, containerdStore: store === "containerd" })).toBe(expected)
)
