import { HttpApi } from "@effect/platform"
import { nearest } from "../schema/nearest.ts"
import { cut } from "../schema/quoted.ts"
import { ApiError } from "./api/ApiError.ts"
import { BerthApi } from "./api/BerthApi.ts"

interface Address {
  readonly path: string
  readonly pattern: RegExp
  readonly methods: ReadonlyArray<string>
}

const methodsOf = new Map<string, Array<string>>([["/", ["GET"]], ["/reference", ["GET"]], ["/openapi.json", ["GET"]]])
HttpApi.reflect(BerthApi, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint: { method, path } }) => {
    methodsOf.set(path, [...methodsOf.get(path) ?? [], method])
  }
})
const addresses: ReadonlyArray<Address> = Array.from(methodsOf, ([path, methods]) => ({
  path,
  pattern: new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`),
  methods
}))
const paths = addresses.map(({ path }) => path).filter((path) => !path.includes(":"))

/** Why a request leads to no endpoint: its path is not known, or only with other methods. */
export const noSuchEndpoint = ({ method, url }: { readonly method: string; readonly url: string }): ApiError => {
  const path = url.replace(/\?[^]*/, "")
  const allowed = addresses.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods)
  if (allowed.length > 0 && !allowed.includes(method)) {
    const message = `${method} is not allowed on ${cut(path)}: use ${allowed.join(" or ")}`
    const allow = allowed.flatMap((name) => name === "GET" ? ["GET", "HEAD"] : [name]).join(", ")
    return new ApiError({ status: 405, message, headers: { allow } })
  }
  const meant = nearest(path, paths)
  const hint = meant === undefined ? "See /reference for what there is" : `Did you mean ${meant}?`
  return new ApiError({ status: 404, message: `No such endpoint: ${method} ${cut(path)}. ${hint}` })
}
