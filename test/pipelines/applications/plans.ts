import { Option } from "effect"
import type { AppPlan } from "../../../src/pipelines/applications/appPlan.ts"
import { Disclosed } from "../../../src/schema/Disclosed.ts"
import type { AppEnv, PlatformRecord } from "../../../src/schema/PlatformApp.ts"

/** The plan of an entry that has nothing but a name and its build pack. */
export const plan = (given: Partial<AppPlan> = {}): AppPlan => ({
  name: "shop",
  raw: { name: "shop" },
  warnings: [],
  buildPack: "autopack",
  declaredBuildPack: Option.some(given.buildPack ?? "autopack"),
  repository: { owner: "ann", name: "shop" },
  gitUrl: "git@git.test:2004/ann/shop.git",
  branch: "master",
  baseDirectory: "/",
  composeLocation: "/compose.yml",
  isStatic: false,
  publishDir: Option.none(),
  port: Option.none(),
  domain: Option.none(),
  server: Option.none(),
  service: Option.none(),
  ...given
})

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
