import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { listExpectedCompose, makeCompareFailure } from "../../../src/pipelines/activation/expectedCompose.ts"
import { readComposeFile } from "../../../src/pipelines/projects/compose.ts"
import { findReferences } from "../../../src/pipelines/projects/deployFiles.ts"
import { memoryWorld } from "../../layers/worlds/memoryWorld.ts"

const compose = `services:
  web:
    image: shop:\${TAG}
    env_file: [app.env]
    volumes: ["./nginx.conf:/n:ro", "data:/d", "/etc/hosts:/h"]
  idle: { image: a, deploy: { replicas: 0 } }
  debug: { build: tools, profiles: [debug], volumes: ["./debug.conf:/c"] }
volumes: { data: }
`
const expectedOf = (text: string) =>
  Effect.gen(function*() {
    const read = yield* readComposeFile("/srv/shop")
    return listExpectedCompose({ compose: read, references: yield* findReferences("/srv/shop", read, {}) })
  }).pipe(Effect.provide(memoryWorld({
    files: {
      "/srv/shop/compose.yml": text,
      "/srv/shop/.env": "TAG=7",
      "/srv/shop/app.env": "",
      "/srv/shop/nginx.conf": ""
    }
  })))

const place = { remotePath: "~/containers/shop", server: "Main" }

describe("what the server's Compose has to make of the files", () => {
  it.effect("are services by their profiles, their images, and paths of the project", () =>
    Effect.gen(function*() {
      expect(yield* expectedOf(compose)).toEqual([
        "service\truns\tweb",
        "service\truns\tidle",
        "service\trests\tdebug",
        "image\tweb\tshop:7",
        "image\tidle\ta",
        "mount\tweb\tnginx.conf",
        "mount\tdebug\tdebug.conf",
        "file\tnginx.conf",
        "file\tdebug.conf",
        "needed\truns\tnginx.conf",
        "needed\trests\tdebug.conf",
        "read\tcompose.yml",
        "read\tapp.env",
        "read\t.env",
        "context\ttools"
      ])
    }))

  it("ends in an error that names each difference, and the state of the server", () => {
    const error = makeCompareFailure(place, "differs\tadded\tworker\ndiffers\timage\tweb\ta:1\ta:2\n", "Nothing runs")
    expect(error).toMatchObject({
      _tag: "ComposeDiffers",
      differences: [
        "it has the service worker, which the plan does not have",
        "the image of web is a:1, and a:2 in the plan"
      ]
    })
    expect(error.message).toContain("Compose on \"Main\" reads the compose files otherwise than the plan: it has the")
    expect(error.message).toContain("Nothing runs")
    expect(makeCompareFailure(place, "foreign\t/srv/shop\tshop_web_1\tshop\n", "Nothing runs").message).toContain(
      "another stack on \"Main\" has the name of this one, \"shop\", so that Compose would take its containers for this one's: " +
        "shop_web_1 in /srv/shop. Give"
    )
    expect(makeCompareFailure(place, "app.env not found", "")).toMatchObject({ _tag: "DeployFailed", step: "config" })
  })
})
