import { Option } from "effect"

const decoded = Option.liftThrowable(decodeURI)

/**
 * The path of an address as the router takes it, which minds neither the case of letters, nor doubled slashes, nor one
 * at the end, nor how a letter is encoded: what is decided by a path must not be decided otherwise there.
 */
export const routedPath = (url: string): string => {
  const path = url.replaceAll(/\/{2,}/g, "/").split(/[?;#]/)[0] ?? ""
  const text = Option.getOrElse(decoded(path), () => path).replace(/(?<=.)\/$/, "")
  return text.toLowerCase()
}
