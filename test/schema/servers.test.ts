import { describe, expect, it } from "@effect/vitest"
import { Either, Schema } from "effect"
import { ServerInput } from "../../src/schema/servers.ts"

const decode = (host: string) => Schema.decodeUnknownEither(ServerInput)({ name: "a", host, username: "u" })

describe("the host of a server", () => {
  it.each(["main", "a.b-c_d.example", "192.168.1.20", "::1", "fe80::1%eth0", "bücher.example", "localhost"])(
    "may be %s",
    (host) => expect(Either.isRight(decode(host))).toBe(true)
  )

  it.each([
    "ssh://main",
    "root@main",
    "main:22",
    "main/path",
    "a b",
    "",
    "main\n",
    "\\\\main",
    "main?x",
    "#main"
  ])(
    "is not %j",
    (host) =>
      expect(String(Either.getLeft(decode(host)).pipe((left) => left._tag === "Some" ? left.value.message : "")))
        .toContain(
          "host must"
        )
  )
})
