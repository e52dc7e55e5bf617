import { Either } from "effect"
import { findNearest } from "../../schema/words/nearest.ts"
import { cut } from "../../schema/words/quoted.ts"
import { ApiError } from "../api/annotations/ApiError.ts"
import { normalizeTarget, plainPaths } from "./requestTarget.ts"

/** Reason why no endpoint matches a request: an unknown path, or a method that the path does not take. */
export const makeEndpointNotFound = ({ method, url }: { readonly method: string; readonly url: string }): ApiError => {
  const target = Either.getOrUndefined(normalizeTarget(method, url))
  const path = target?.path ?? url.replace(/\?[^]*/, "")
  const allowed = target?.destination._tag === "Nowhere" ? target.destination.methods : []
  if (allowed.length > 0) {
    const message = `${method} is not allowed on ${cut(path)}: use ${allowed.join(" or ")}`
    const allow = allowed.flatMap((name) => name === "GET" ? ["GET", "HEAD"] : [name]).join(", ")
    return new ApiError({ status: 405, message, headers: { allow } })
  }
  const meant = findNearest(path, plainPaths)
  const hint = meant === undefined ? "See /reference for what there is" : `Did you mean ${meant}?`
  return new ApiError({ status: 404, message: `No such endpoint: ${method} ${cut(path)}. ${hint}` })
}
