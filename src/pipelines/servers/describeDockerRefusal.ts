import type { ServerAccess } from "../../schema/servers/Server.ts"

const saysNotFound = (line: string): boolean => {
  const at = line.search(/\bdocker: /i)
  return at >= 0 && /not found/i.test(line.slice(at))
}

/** Docker's error message on a server, with the remedy if it is known. */
export const describeDockerRefusal = (words: string, server: Pick<ServerAccess, "username">): string => {
  if (/permission ?(denied|error)/i.test(words) && /docker/i.test(words)) {
    return `${words}. Add ${server.username} to the group docker, or set useSudo for this server`
  }
  if (words.split("\n").some(saysNotFound)) return `Docker is not installed, or not on the PATH: ${words}`
  return words === "" ? "Docker did not say why" : words
}
