import { JSONSchema, Predicate } from "effect"
import { describe, expect, it } from "vitest"
import {
  buildCreateFields,
  listDriftFields,
  listUpsertFields,
  listWrittenFields
} from "../../../../src/pipelines/applications/applications.ts"
import { buildUpdateFields } from "../../../../src/pipelines/applications/differences.ts"
import { CreateApp } from "../../../../src/schema/applications.ts"
import { plan } from "../plans.ts"

describe("the fields of an application", () => {
  it.each(["composestack", "autopack", "imagefile"] as const)(
    "of a %s application are written where they are compared",
    (buildPack) => {
      const wanted = plan({ buildpack: buildPack, static: true })
      const written = Object.keys(buildUpdateFields(wanted))
      expect(written.toSorted()).toEqual(
        [...listWrittenFields(wanted).map(({ record }) => record.key), "ports_exposes"].toSorted()
      )
      const compared = [...listDriftFields(wanted), ...listUpsertFields(wanted)].map(({ record }) => record.key)
      expect(compared.filter((record) => !written.includes(record))).toEqual([])
    }
  )

  it("default to what the description of a creation says", () => {
    const described = Object.fromEntries(
      Object.entries(JSONSchema.make(CreateApp).$defs?.["CreatePlatformAppRequest"] ?? {})
        .filter(([key]) => key === "properties")
        .flatMap(([, properties]) => Object.entries(properties))
        .map(([name, property]) => [name, Predicate.hasProperty(property, "default") ? property.default : undefined])
    )
    const create = { name: "a", gitRepo: "b", buildpack: "composestack", isStatic: true } as const
    const sent = buildCreateFields(create, { projectUuid: "p", serverUuid: "s", privateKeyUuid: "k" })
    expect(sent).toMatchObject({
      git_branch: described["gitBranch"],
      publish_directory: described["publishDir"],
      ports_exposes: described["portsExposes"],
      base_directory: described["baseDirectory"],
      compose_location: described["composeLocation"]
    })
  })
})
