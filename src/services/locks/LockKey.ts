import type { Repository } from "../../schema/GitHook.ts"
import type { ServerAccess } from "../../schema/Server.ts"

/**
 * What a lock protects. A program that needs several takes them in the order of their `rank`, so that two programs can
 * never wait for each other: whoever takes one while it holds another of the same rank or a higher one is a defect.
 */
export interface LockKey {
  readonly rank: number
  readonly name: string
  /** A local file beside which the lock also keeps other processes of this machine out. */
  readonly file?: string
  /**
   * What is locked, in words, where the lock also keeps the user's other processes out: a script, a command line and a
   * service that run side by side.
   */
  readonly shared?: string
}

const address = ({ host, port }: Pick<ServerAccess, "host" | "port">) => `${host.toLowerCase()}:${port}`

/** One upsert of an application at a time. */
export const applicationLock = (platformUrl: string, name: string): LockKey => ({
  rank: 1,
  name: `app ${platformUrl} ${name}`,
  shared: `The application "${name}"`
})

/** One deploy to a directory of a server at a time. */
export const remotePathLock = (server: Pick<ServerAccess, "host" | "port">, remotePath: string): LockKey => ({
  rank: 1,
  name: `path ${address(server)} ${remotePath}`
})

/** Deploys to a server that are under way at once, of which there can be `deploysAtOnce`. */
export const deployPlaces = (server: Pick<ServerAccess, "host" | "port">): LockKey => ({
  rank: 2,
  name: `deploy ${address(server)}`
})

/** One pull from a server at a time: its channels are few. */
export const pullLock = (server: Pick<ServerAccess, "host" | "port">): LockKey => ({
  rank: 1,
  name: `pull ${address(server)}`,
  shared: `Pulling from ${address(server)}`
})

/** One build of a project at a time. */
export const buildLock = (projectDirectory: string): LockKey => ({
  rank: 1,
  name: `build ${projectDirectory}`,
  shared: `The build of ${projectDirectory}`
})

/** One edit of a proxy file at a time, whatever the id its server is stored under. */
export const proxyLock = (server: Pick<ServerAccess, "host" | "port">, configFile: string): LockKey => ({
  rank: 2,
  name: `proxy ${address(server)} ${configFile}`,
  shared: `The proxy file ${configFile} on ${address(server)}`
})

/** One append to a project's changelog at a time. */
export const changelogLock = (changelogFile: string): LockKey => ({
  rank: 3,
  name: `file ${changelogFile}`,
  file: changelogFile
})

/** One edit of a project's `platform.json` at a time. */
export const projectFileLock = (file: string): LockKey => ({ rank: 3, name: `file ${file}`, file })

/** One edit of the settings file at a time. */
export const settingsLock = (settingsFile: string): LockKey => ({
  rank: 4,
  name: `file ${settingsFile}`,
  file: settingsFile
})

/** One change of what is noted of confirmed settings files at a time; an edit of such a file is one. */
export const confirmationsLock = (noteFile: string): LockKey => ({ rank: 5, name: `file ${noteFile}`, file: noteFile })

/** One change of the remembered host keys at a time. */
export const hostKeysLock = (knownHostsFile: string): LockKey => ({
  rank: 5,
  name: `file ${knownHostsFile}`,
  file: knownHostsFile
})

/** One look at a repository's hooks, and what follows from it, at a time. */
export const hooksLock = ({ name, owner }: Repository): LockKey => ({
  rank: 6,
  name: `hooks ${owner.toLowerCase()}/${name.toLowerCase()}`,
  shared: `The webhooks of ${owner}/${name}`
})
