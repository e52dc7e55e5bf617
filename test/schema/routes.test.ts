import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { makeCompleteRouteDecoder, RouteNamed, RouteRequest } from "../../src/schema/routes.ts"

const route = { routeName: "web", domain: "web.example.com", port: 2000 }
const messageOf = (given: { readonly [field: string]: unknown }) =>
  Either.match(makeCompleteRouteDecoder(RouteRequest)(given), {
    onLeft: ({ message }) => message,
    onRight: () => "fits"
  })

describe("givenRoute", () => {
  it("reads a route that has everything", () => {
    expect(Either.getOrThrow(makeCompleteRouteDecoder(RouteRequest)(route))).toEqual(route)
  })

  it.each([{}, { ...route, port: null }, { ...route, domain: "" }, { ...route, routeName: undefined }])(
    "names every field where one is absent, null or empty: %j",
    (given) => expect(messageOf(given)).toBe("routeName, domain and port are required")
  )

  it("names the only field of a route to remove", () => {
    const left = Either.getOrThrow(Either.flip(makeCompleteRouteDecoder(RouteNamed)({})))
    expect(left).toMatchObject({ _tag: "RouteFieldsMissing", message: "routeName is required" })
  })

  it("says of a field that is there and does not fit what it has to be", () => {
    expect(messageOf({ ...route, port: 0 })).toBe("port must be a whole number from 1 to 65535")
  })
})
