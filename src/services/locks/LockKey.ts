import { formatMachineAddress, type MachineAddress } from "../../schema/servers/formatMachineAddress.ts"
import type { Repository } from "../../schema/webhooks/GitHook.ts"

/**
 * Name of a lock. Several locks are taken in the order of their `rank`, which prevents deadlocks: taking one while holding
 * another of the same or a higher rank is a defect.
 */
export interface LockKey {
  readonly rank: number
  readonly name: string
  /** Local file that the lock also protects from other processes of this machine. */
  readonly file?: string
  /**
   * Description of a lock that also excludes the user's other processes: a script, a command and a service side by
   * side.
   */
  readonly shared?: string
}

/** One upsert of an application at a time. */
export const makeApplicationLock = (platformUrl: string, name: string): LockKey => ({
  rank: 1,
  name: `app ${platformUrl} ${name}`,
  shared: `The application "${name}"`
})

/** Serializes deploys of a project to its targets; held while the deploys that it starts hold their remote paths. */
export const makeTargetsLock = (projectDirectory: string): LockKey => ({
  rank: 0.5,
  name: `targets ${projectDirectory}`
})

/** One deploy to a directory of a server at a time. */
export const makeRemotePathLock = (server: MachineAddress, remotePath: string): LockKey => ({
  rank: 1,
  name: `path ${formatMachineAddress(server)} ${remotePath}`
})

/** Places for concurrent deploys to a server: `deploysAtOnce`. */
export const makeDeploySlots = (server: MachineAddress): LockKey => ({
  rank: 2,
  name: `deploy ${formatMachineAddress(server)}`
})

/** Allows one pull from a server at a time, since its channels are limited. */
export const makePullLock = (server: MachineAddress): LockKey => ({
  rank: 1,
  name: `pull ${formatMachineAddress(server)}`,
  shared: `Pulling from ${formatMachineAddress(server)}`
})

/** One build of a project at a time. */
export const makeBuildLock = (projectDirectory: string): LockKey => ({
  rank: 1,
  name: `build ${projectDirectory}`,
  shared: `The build of ${projectDirectory}`
})

/** Serializes edits of a proxy file, under any id of its server. A bridged deploy holds it for each of its edits. */
export const makeProxyLock = (server: MachineAddress, configFile: string): LockKey => ({
  rank: 3,
  name: `proxy ${formatMachineAddress(server)} ${configFile}`,
  shared: `The proxy file ${configFile} on ${formatMachineAddress(server)}`
})

/** One append to a project's changelog at a time. */
export const makeChangelogLock = (changelogFile: string): LockKey => ({
  rank: 3,
  name: `file ${changelogFile}`,
  file: changelogFile
})

/** One edit of a project's `platform.json` at a time. */
export const makeProjectFileLock = (file: string): LockKey => ({ rank: 3, name: `file ${file}`, file })

/** One edit of the settings file at a time. */
export const makeSettingsLock = (settingsFile: string): LockKey => ({
  rank: 4,
  name: `file ${settingsFile}`,
  file: settingsFile
})

/** Serializes changes of the record of confirmed settings files; every edit of such a file changes it. */
export const makeConfirmationsLock = (noteFile: string): LockKey => ({
  rank: 5,
  name: `file ${noteFile}`,
  file: noteFile
})

/** Lock that serializes changes of the known host keys. */
export const makeHostKeysLock = (knownHostsFile: string): LockKey => ({
  rank: 5,
  name: `file ${knownHostsFile}`,
  file: knownHostsFile
})

/** Serializes reads and changes of a repository's hooks. */
export const makeHooksLock = ({ name, owner }: Repository): LockKey => ({
  rank: 6,
  name: `hooks ${owner.toLowerCase()}/${name.toLowerCase()}`,
  shared: `The webhooks of ${owner}/${name}`
})
