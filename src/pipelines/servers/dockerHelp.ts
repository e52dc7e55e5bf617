import type { ServerAccess } from "../../schema/Server.ts"

const saysNotFound = (line: string): boolean => {
  const at = line.search(/\bdocker: /i)
  return at >= 0 && /not found/i.test(line.slice(at))
}

/** What a server said when Docker could not be used, with what to do about it where that is known. */
export const dockerHelp = (words: string, server: Pick<ServerAccess, "username">): string => {
  if (/permission ?(denied|error)/i.test(words) && /docker/i.test(words)) {
    return `${words}. Add ${server.username} to the group docker, or set useSudo for this server`
  }
  if (words.split("\n").some(saysNotFound)) return `Docker is not installed, or not on the PATH: ${words}`
  return words === "" ? "Docker did not say why" : words
}
