import { Schema } from "effect"
import { type AppPlan, planEntryWith } from "../../../src/pipelines/applications/platformFile.ts"
import { type AppEnv, Disclosed, type PlatformRecord } from "../../../src/schema/applications.ts"
import { PlatformEntry } from "../../../src/schema/upsert.ts"

/** Fields of an entry; one that is undefined is not declared. */
export type Declaration = { readonly [K in keyof PlatformEntry]?: PlatformEntry[K] | undefined }

/** The plan of an entry that has nothing but a name and its build pack. */
export const plan = (given: Declaration = {}): AppPlan => {
  const raw = Object.fromEntries(
    Object.entries({ name: "shop", buildpack: "autopack", ...given }).filter(([, value]) => value !== undefined)
  )
  return planEntryWith(
    { raw, entry: Schema.decodeUnknownSync(PlatformEntry)(raw), warnings: [] },
    { owner: "ann", name: "shop" },
    "git@git.test:2004/ann/shop.git"
  )
}

/** The record of an application that is as `plan()` wants it. */
export const record = (given: Partial<PlatformRecord> = {}): PlatformRecord => ({
  uuid: "app-1",
  name: "shop",
  build_pack: "autopack",
  git_repository: "git@git.test:2004/ann/shop.git",
  git_branch: "master",
  base_directory: "/",
  is_static: false,
  publish_directory: "/",
  raw: {},
  ...given
})

/** A variable with a value, without one, or with one that is kept secret. */
export const env = (key: string, value: string | null | { readonly hidden: string }, id = 7): AppEnv => ({
  key,
  record: { id, key, ...(value === null || typeof value === "string" ? { value } : {}) },
  value: value === null
    ? Disclosed.Absent()
    : typeof value === "string"
    ? Disclosed.Known({ value })
    : Disclosed.Hidden({ reason: value.hidden })
})
