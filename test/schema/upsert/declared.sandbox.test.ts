import { describe, expect, it } from "@effect/vitest"
import { Effect, JSONSchema, Schema } from "effect"
import { vi } from "vitest"

// The same source as ever, but for two rows of the table: nothing else knows of them. Test files share a process, so
// that the modules are loaded once more for this one.
vi.resetModules()
vi.doMock(import("../../../src/schema/declaredFields.ts"), async (original) => {
  const table = await original()
  const { defineField: declared } = table
  const more = {
    imageFile: declared({
      schema: table.Line,
      label: "Image build file",
      description: "The image build file in the repository. Without it: `/Dockerfile`.",
      example: "/deploy/Dockerfile",
      fallback: "/Dockerfile",
      record: {
        key: "image_file_location",
        coolify: "dockerfile_location",
        kind: "path",
        usually: "a string or null",
        description: "Where its image build file is, below the base directory",
        writtenFor: ["imagefile"]
      }
    }),
    watchPaths: declared({
      schema: Schema.String,
      label: "Watched paths",
      description: "The paths whose changes deploy.",
      example: "src/**",
      fallback: undefined,
      record: { key: "watch_paths", kind: "text", usually: "a string or null", description: "What a push deploys for" }
    })
  }
  return { ...table, declaredFields: { ...table.declaredFields, ...more } }
})

const [
  { filesPage },
  { adopt },
  { drift },
  { planUpsert },
  { upsertApp },
  { PlatformRecordBody },
  { LocalFiles },
  { discloseTo },
  { Platform },
  { declaring },
  { vendors, vendorWorld }
] = await Promise.all([
  import("../../../scripts/filesPage.ts"),
  import("../../../src/pipelines/adoptApplication.ts"),
  import("../../../src/pipelines/drift.ts"),
  import("../../../src/pipelines/upsert/upsert.ts"),
  import("../../../src/pipelines/upsert/upsert.ts"),
  import("../../../src/schema/applications.ts"),
  import("../../../src/services/local/LocalFiles.ts"),
  import("../../../src/services/platform/disclosure.ts"),
  import("../../../src/services/platform/Platform.ts"),
  import("../../layers/worlds/memoryWorld.ts"),
  import("../../layers/worlds/vendorWorld.ts")
])
vi.doUnmock("../../../src/schema/declaredFields.ts")
vi.resetModules()

const request = { projectPath: "/srv/shop" }
const entry = { name: "shop", buildpack: "imagefile", imageFile: "/deploy/Dockerfile", watchPaths: "src/**" }
const write = (path: string, content: unknown) =>
  Effect.flatMap(LocalFiles, (files) => files.write(path, new TextEncoder().encode(JSON.stringify(content))))

describe("a row of the table", () => {
  it("is in the docs of the file and in the description of the API", () => {
    expect(filesPage()).toContain("- `imageFile`: a string. The image build file in the repository. Without it:")
    expect(JSON.stringify(JSONSchema.make(PlatformRecordBody))).toContain(
      "Where its image build file is, below the base directory. Usually a string or null."
    )
  })

  it("is shown to viewers", () => {
    const disclosure = discloseTo({ seesValues: false, secrets: [] })
    expect(disclosure.record({ image_file_location: "/a", other: "/b" })).toEqual({
      image_file_location: "/a",
      other: "***"
    })
  })

  it.live.each([...vendors])(
    "is created, compared, planned, updated and adopted on %s",
    (vendor) =>
      Effect.gen(function*() {
        const platform = yield* Platform
        const live = Effect.map(
          platform.applications,
          ([app]) => [app?.raw["image_file_location"], app?.raw["watch_paths"]]
        )
        const { uuid } = yield* upsertApp(request)
        expect(yield* live).toEqual(["/deploy/Dockerfile", "src/**"])
        expect(yield* drift(request)).toMatchObject({ exists: true, diffs: [] })

        yield* platform.updateApplication(uuid, { image_file_location: "/Other" })
        yield* write("/srv/shop/platform.json", { ...entry, watchPaths: "lib/**" })
        expect((yield* drift(request)).diffs).toEqual([
          {
            field: "imageFile",
            label: "Image build file",
            local: "/deploy/Dockerfile",
            remote: "/Other",
            applied: "/deploy/Dockerfile",
            changed: "there"
          },
          {
            field: "watchPaths",
            label: "Watched paths",
            local: "lib/**",
            remote: "src/**",
            applied: "src/**",
            changed: "here"
          }
        ])
        const changes = [
          { field: "image_file_location", label: "Image build file", old: "/Other", new: "/deploy/Dockerfile" },
          { field: "watch_paths", label: "Watched paths", old: "src/**", new: "lib/**" }
        ]
        const planned = (yield* planUpsert(request)).changes.filter(({ target }) => target === "application")
        // In the order of the call: what is for one build pack only is written last.
        expect(planned).toEqual(changes.map((one) => ({ target: "application", ...one })).toReversed())
        expect((yield* upsertApp(request)).changelogEntry.changes).toEqual(changes)
        expect(yield* live).toEqual(["/deploy/Dockerfile", "lib/**"])
        expect((yield* drift(request)).diffs).toEqual([])

        yield* write("/srv/shop/platform.json", [])
        const adopted = yield* adopt({ ...request, uuid })
        expect(adopted.entry).toEqual({ ...entry, watchPaths: "lib/**" })
        expect((yield* drift(request)).diffs).toEqual([])
      }).pipe(Effect.provide(vendorWorld(vendor, { files: declaring(entry) })))
  )

  it.live.each([...vendors])("has its default, or is left alone on %s", (vendor) =>
    Effect.gen(function*() {
      const { uuid } = yield* upsertApp(request)
      const platform = yield* Platform
      yield* platform.updateApplication(uuid, { watch_paths: "docs/**" })
      expect((yield* drift(request)).diffs).toEqual([])
      expect((yield* platform.application(uuid)).raw["image_file_location"]).toBe("/Dockerfile")
      expect((yield* upsertApp(request)).changelogEntry.changes).toEqual([])
      expect((yield* platform.application(uuid)).raw["watch_paths"]).toBe("docs/**")
    }).pipe(Effect.provide(vendorWorld(vendor, { files: declaring({ name: "shop", buildpack: "imagefile" }) }))))
})
