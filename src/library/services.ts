/** Ports to everything outside, their live layers, their test layers, and the settings that the layers are built from. */
export { type Caller, CurrentCaller, type KnownCaller, makeLocalCaller } from "../services/access/Caller.ts"
export { Execs, ExecsLive } from "../services/exec.ts"
export { GitHost, GitHostLive } from "../services/githost.ts"
export { HostKeys, HostKeysUnavailable } from "../services/HostKeys.ts"
export { HostKeysLive } from "../services/HostKeysLive.ts"
export { type LocalEntry, LocalFileFailed, LocalFiles, LocalFilesLive } from "../services/local/LocalFiles.ts"
export { LocalProcesses, LocalProcessesLive, ProgramNotFound } from "../services/local/LocalProcesses.ts"
export { FileLocked, Locks, LocksLive } from "../services/locks/Locks.ts"
export { AnnouncedHistoryLive, Notifier, NotifierLive } from "../services/notify/Notifier.ts"
export { Post, PostFailed } from "../services/notify/Post.ts"
export { PostLive } from "../services/notify/PostLive.ts"
export { Platform } from "../services/platform/Platform.ts"
export { PlatformLive } from "../services/platform/PlatformLive.ts"
export { ProjectTrust, ProjectTrustLive } from "../services/ProjectTrust.ts"
export { RunsLive } from "../services/runs/engine.ts"
export { watchSteps } from "../services/runs/events.ts"
export { Instance, InstanceLive, RunRequest, Runs } from "../services/runs/Runs.ts"
export { RunFailed, StepFailed, Steps, StepsLive } from "../services/runs/Steps.ts"
export {
  IdempotencyKeyReused,
  Outbox,
  RunHistory,
  RunOwnership,
  RunRecords,
  RunTakenOver
} from "../services/runs/store.ts"
export { servicesLive, settingsLive } from "../services/ServicesLive.ts"
export { Sessions, SessionsLive } from "../services/Sessions.ts"
export { locateSettings, requireConfirmedSettings, type SettingsLocation } from "../services/settings/confirm.ts"
export { Settings } from "../services/settings/Settings.ts"
export { SettingsLive } from "../services/settings/SettingsLive.ts"
export { Connections, ConnectionsLive } from "../services/ssh/Connections.ts"
export { FirstContact, FirstContactLive } from "../services/ssh/FirstContact.ts"
export { Sftp, SftpLive } from "../services/ssh/Sftp.ts"
export { type ExecOptions, type RemoteCommand, type RemoteExit, type RemoteProcess, Ssh } from "../services/ssh/Ssh.ts"
export { SshLive } from "../services/ssh/SshLive.ts"
export { PrivateToken, PrivateTokenLive } from "../services/state/discovery.ts"
export { runRecordsLive, runStoreLive } from "../services/state/RunStoreLive.ts"
export { Telemetry, TelemetryLive } from "../services/telemetry/Telemetry.ts"
export { HttpsProbe, HttpsProbeLive } from "../services/tls.ts"
export { BoundedClient, Upstream, UpstreamLive } from "../services/upstream/Upstream.ts"
export {
  localFilesTest,
  type LocalFixture,
  localProcessesTest,
  localText,
  type Script,
  type Started
} from "../testing/LocalFilesTest.ts"
export {
  type GitHostAsked,
  GitHostCalls,
  gitHostTest,
  type GitHostTestOptions,
  type PlatformAsked,
  PlatformCalls,
  platformTest,
  type PlatformTestOptions
} from "../testing/PlatformTest.ts"
export { locksTest, runsTest, RunStoreMemory } from "../testing/RunsTest.ts"
export { type SettingsFixture, settingsTest, storedServer } from "../testing/SettingsTest.ts"
export {
  type AskedCommand,
  hostKeysTest,
  lost,
  proxyFileTest,
  ProxyFileText,
  type RemoteFixture,
  SftpFiles,
  sftpTest,
  type SshAnswer,
  SshAsked,
  type SshReply,
  sshTest
} from "../testing/SshTest.ts"
