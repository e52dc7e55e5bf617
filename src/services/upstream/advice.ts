import { Either, Predicate } from "effect"
import { cut, quoteInput } from "../../schema/words.ts"
import { parseJson } from "../parsing.ts"

const repository = /\/api\/v1\/repos\/([^/]+)\/([^/?]+)/

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Repository that a URL of a git host's API names: `owner/name`. */
const repositoryIn = (url: URL): string | undefined => {
  const [, owner, name] = repository.exec(url.pathname) ?? []
  return owner === undefined || name === undefined ? undefined : `${decoded(owner)}/${decoded(name)}`
}

/** A redirect: the URL that was called, the address in the settings, and the header `Location`. */
interface Redirect {
  readonly url: string
  readonly base: string
  readonly location: string
}

/** Describes a redirect, which is never followed, with what to do about it. */
export const describeRedirect = ({ base, location, url }: Redirect): string => {
  if (!URL.canParse(location, url)) {
    return "a redirect to another address, which was not followed: look whether the address in the settings is right"
  }
  const [from, to] = [new URL(url), new URL(location, url)]
  const moved = `a redirect to ${to.origin}, which was not followed: `
  if (from.origin === to.origin) {
    const [before, after] = [repositoryIn(from), repositoryIn(to)]
    return moved + (before !== undefined && after !== undefined && before !== after
      ? `the repository ${quoteInput(before)} has moved to ${
        quoteInput(after)
      }. Put its new name into platform.json, and into the address that ` +
        "git fetches from"
      : `it leads to ${cut(to.pathname)} there, so look whether the path of the address in the settings is right`)
  }
  const called = from.pathname.slice(new URL(base).pathname.replace(/(?<!\/)\/+$/, "").length)
  // Anything else may be a log-in page in front of it, or a stranger: the token is not to be sent there.
  if (!/^https?:$/.test(to.protocol) || !to.pathname.endsWith(called)) {
    return `${moved}something else answers in front of the address in the settings, such as a page to log in`
  }
  const path = to.pathname.slice(0, to.pathname.length - called.length)
  return `${moved}put the address that answers itself into the settings, if it is yours: ${to.origin}${cut(path)}`
}

/**
 * Describes an address whose path is not that of an API; undefined for one that is.
 * @param apiPath path in which the address has to end; empty for one that ends before `/api`
 */
export const describeBasePath = (setting: string, base: string, apiPath: string): string | undefined => {
  const { origin, pathname } = new URL(base)
  const path = pathname.replace(/(?<!\/)\/+$/, "")
  if (apiPath === "" ? !/\/api(?:\/v\d+)?$/.test(path) : path.endsWith(apiPath)) return undefined
  const right = `${origin}${path.replace(/\/api(?:\/v\d+)?$/, "")}${apiPath}`
  return `${setting} is ${origin}${path}, and the API is probably at ${right}: put that there`
}

/** Sentence about domains that other resources of Coolify have; empty if a refusal names none. */
export const describeConflicts = (body: string): string => {
  const answer = Either.getOrElse(parseJson(body), () => null)
  const conflicts = Predicate.isRecord(answer) && Array.isArray(answer["conflicts"]) ? answer["conflicts"] : []
  const taken = conflicts.filter(Predicate.isRecord).flatMap(({ domain, resource_name: name }) =>
    Predicate.isString(domain) && Predicate.isString(name)
      ? [`${quoteInput(domain)} belongs to the resource ${quoteInput(name)}`]
      : []
  )
  return taken.length === 0
    ? ""
    : `${taken.slice(0, 10).join(", ")}: take the domain from there, or declare another one`
}

/** Remedy for a refusal of the platform or the git host, by its status and its own words. */
export const adviseRefusal = ({ upstream, words }: { readonly upstream: number; readonly words: string }): string => {
  if (upstream === 401) return "Check the token in the settings: it is not accepted"
  if (/\bAPI is disabled\b/i.test(words)) return "Enable the API there: in Coolify under Settings, Advanced"
  if (/not allowed to access the API/i.test(words)) {
    return "Allow the address of this machine to call the API: in Coolify under Settings, Advanced, Allowed IPs"
  }
  if (upstream === 403) return "Give the token the permission that the detail names"
  if (upstream === 404) return "Check the address in the settings, and that what the call names exists"
  if (upstream === 429 || upstream >= 500) return "Look into the log of the program that answered so, and ask again"
  return "Mend what the detail says, and ask again"
}
