import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { findContainer, findShell } from "../../../src/pipelines/exec.ts"
import type { ServerAccess } from "../../../src/schema/ssh.ts"
import { sshTest } from "../../../src/testing/SshTest.ts"

const server: ServerAccess = {
  id: "1",
  name: "Main",
  host: "main.test",
  port: 22,
  username: "deploy",
  useSudo: false,
  credentials: {}
}
const ids = ["a", "b", "c", "d", "e"].map((digit) => digit.repeat(64))
const remotePath = "~/containers/app"
const looking = `looking for the containers of ${remotePath}`
const stack = [
  `${ids[0]}|app-web-2|web|2|running|False`,
  `${ids[1]}|app-web-1|web|1|running|False`,
  `${ids[2]}|app-web-run-1|web|1|running|True`,
  `${ids[3]}|app-db-1|db|1|exited|False`,
  "something else",
  ""
].join("\n")

const find = (wanted: string | undefined, stdout = stack) =>
  Effect.provide(findContainer({ server, remotePath }, wanted), sshTest({ [looking]: { stdout } }))

describe("the container of a service", () => {
  it.effect("is the first that runs, and none of compose run", () =>
    Effect.gen(function*() {
      expect(yield* find("web")).toMatchObject({ id: ids[1], name: "app-web-1" })
      expect(yield* find(undefined, `${ids[4]}|app-web-1|web|1|running|`)).toMatchObject({ id: ids[4] })
    }))

  it.effect.each(
    [
      ["wbe", stack, 404, "The stack at ~/containers/app on \"Main\" has no service \"wbe\". Did you mean \"web\"?"],
      [
        "cache",
        stack,
        404,
        "The stack at ~/containers/app on \"Main\" has no service \"cache\". Its services: db, web"
      ],
      [undefined, stack, 422, "The stack at ~/containers/app on \"Main\" has several services: name one of db, web"],
      [
        "db",
        stack,
        409,
        "\"db\" has no running container at ~/containers/app on \"Main\": app-db-1 is exited. Start the stack first"
      ],
      ["web", "absent\n", 404, "There is no stack at ~/containers/app on \"Main\": deploy the project first"],
      ["web", "", 404, "There are no containers at ~/containers/app on \"Main\": deploy the project first"]
    ] as const
  )("is missing: %s", ([wanted, stdout, status, message]) =>
    Effect.gen(function*() {
      expect(yield* Effect.flip(find(wanted, stdout))).toMatchObject({ status, message })
    }))

  it.effect("has a shell, or a sentence says that it has none", () =>
    Effect.gen(function*() {
      const container = yield* find("web")
      const shell = (stdout: string) =>
        Effect.provide(findShell(server, container), sshTest({ "looking for a shell in app-web-1": { stdout } }))
      expect(yield* shell("bash\n")).toBe("bash")
      expect(yield* Effect.flip(shell(""))).toMatchObject({
        status: 422,
        message: expect.stringContaining("app-web-1 has no shell: its image holds neither bash nor sh")
      })
    }))
})
