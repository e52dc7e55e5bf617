import type { ServerAccess } from "../../schema/Server.ts"

/** What a server said when Docker could not be used, with what to do about it where that is known. */
export const dockerHelp = (words: string, server: Pick<ServerAccess, "username">): string => {
  if (/permission ?(denied|error)/i.test(words) && /docker/i.test(words)) {
    return `${words}. Add ${server.username} to the group docker, or set useSudo for this server`
  }
  if (/\bdocker: .*not found/i.test(words)) return `Docker is not installed, or not on the PATH: ${words}`
  return words === "" ? "Docker did not say why" : words
}
