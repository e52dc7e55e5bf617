import { describe, expect, it } from "@effect/vitest"
import { Either, Schema } from "effect"
import { BackupConfig } from "../../src/schema/backups.ts"
import { collectValidationIssues } from "../../src/schema/validation.ts"

const items = { database: { kind: "postgres", service: "db" } }
const read = (copies: unknown) => Schema.decodeUnknownEither(BackupConfig)({ items, copies })
const shape = "needs to: here, or to: server with server and path, or to: restic with repository"

describe("the places of copies", () => {
  const good: ReadonlyArray<ReadonlyArray<object>> = [
    [],
    [{ to: "here" }],
    [{ to: "server", server: "vault", path: "/srv/backups" }, { to: "server", server: "attic", path: "~/kept" }],
    [{ to: "here" }, { to: "restic", repository: "${env:RESTIC_REPOSITORY}" }]
  ]
  it.each(good.map((copies) => [JSON.stringify(copies), copies] as const))("may be %s", (_, copies) => {
    expect(Either.isRight(read(copies))).toBe(true)
  })

  const bad: ReadonlyArray<readonly [copies: unknown, reason: string]> = [
    [[{ to: "s3" }], "must be here, server or restic"],
    [[{ to: "here", path: "/srv" }], shape],
    [[{ to: "server", server: "vault" }], shape],
    [[{ to: "server", path: "/srv" }], shape],
    [[{ to: "restic" }], shape],
    [[{ to: "restic", repository: "" }], "must not be empty"],
    [[{ to: "server", server: "vault", path: "/srv/../etc" }], "must not contain \"..\""],
    [[{ to: "here" }, { to: "here" }], "must not name a place twice"],
    [
      [{ to: "server", server: "vault", path: "/a" }, { to: "server", server: "vault", path: "/b" }],
      "must not name a place twice"
    ]
  ]
  it.each(bad.map(([copies, reason]) => [JSON.stringify(copies), copies, reason] as const))(
    "may not be %s",
    (_, copies, reason) => {
      const issues = Either.match(read(copies), {
        onLeft: ({ issue }) => collectValidationIssues(issue).map(({ words }) => words),
        onRight: () => []
      })
      expect(issues).toEqual([reason])
    }
  )
})
