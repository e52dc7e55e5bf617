import { Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { collectCarriedSecrets } from "../../../../src/services/upstream/Upstream.ts"

const carriedBy = (body: unknown) => collectCarriedSecrets(body).map(Redacted.value)

describe("carriedSecrets", () => {
  it.each<[string, unknown, ReadonlyArray<string>]>([
    ["nothing", undefined, []],
    ["no credential", { name: "shop", private_key_uuid: "key-1", git_repository: "git@git.test:2004/a/b.git" }, []],
    ["a user that everybody has", { git_repository: "ssh://git@git.test/a/b.git" }, []],
    ["an address with a password", { git_repository: "https://me:s3cret@git.test/a.git" }, ["s3cret"]],
    ["an address with a token alone", { git_repository: "https://gho_abc@git.test/a.git" }, ["gho_abc"]],
    ["an escaped password", { a: "https://me:p%40ss@git.test" }, ["p%40ss", "p@ss"]],
    ["one that is escaped wrongly", { a: "https://me:p%zz@git.test" }, ["p%zz"]],
    ["two addresses in one text", { a: "see https://a:one1@x.test and https://b:two2@y.test" }, ["one1", "two2"]],
    ["fields by their names", { http_basic_auth_password: "p1", manual_webhook_secret_gitea: "w1" }, ["p1", "w1"]],
    ["fields at any depth", { build: [{ secrets: { NPM: "n1", list: ["l1", 2] } }] }, ["n1", "l1"]]
  ])("finds %s", (_, body, found) => {
    expect(carriedBy(body)).toEqual(found)
  })
})
