import { type FileSystem, Path } from "@effect/platform"
import { Context, type Duration, Effect, Layer } from "effect"
import { ExecsLive } from "./exec.ts"
import { GitHostLive } from "./githost.ts"
import { HostKeys } from "./HostKeys.ts"
import { HostKeysLive } from "./HostKeysLive.ts"
import { LocalFilesLive } from "./local/LocalFiles.ts"
import { LocalProcessesLive } from "./local/LocalProcesses.ts"
import { LocksLive } from "./locks/Locks.ts"
import { AnnouncedHistoryLive, NotifierLive } from "./notify/Notifier.ts"
import { PostLive } from "./notify/PostLive.ts"
import { PlatformLive } from "./platform/PlatformLive.ts"
import { ProjectTrustLive } from "./ProjectTrust.ts"
import { RunsLive } from "./runs/engine.ts"
import { InstanceLive } from "./runs/Runs.ts"
import { SessionsLive } from "./Sessions.ts"
import type { SettingsLocation } from "./settings/confirm.ts"
import { Settings } from "./settings/Settings.ts"
import { SettingsLive } from "./settings/SettingsLive.ts"
import { ConnectionsLive } from "./ssh/Connections.ts"
import { FirstContactLive } from "./ssh/FirstContact.ts"
import { SftpLive } from "./ssh/Sftp.ts"
import { SshLive } from "./ssh/SshLive.ts"
import { refuseNewKeys } from "./sshClient/knownHosts.ts"
import { PrivateTokenLive } from "./state/discovery.ts"
import { runRecordsLive, runStoreLive } from "./state/RunStoreLive.ts"
import { TelemetryLive } from "./telemetry/Telemetry.ts"
import { HttpsProbeLive } from "./tls.ts"
import { BoundedClient, UpstreamLive } from "./upstream/Upstream.ts"

/**
 * Stores known host keys beside the settings file. Where nothing is remembered for the next process, a new key would be
 * new each time: only the required ones and those of the user's known_hosts are accepted.
 */
const KnownHostsLive = Layer.unwrapEffect(Effect.gen(function*() {
  const path = yield* Path.Path
  const { directory, isLasting } = yield* Settings
  const stored = HostKeysLive(path.join(directory, "berth.known_hosts"))
  return isLasting
    ? stored
    : Layer.map(stored, (context) => Context.make(HostKeys, refuseNewKeys(Context.get(context, HostKeys))))
}))

/** Places the store of runs beside the settings file, unless the settings name a database. */
const besideSettings = <A, E, R>(
  live: (file: string, holderTimeout: Duration.DurationInput | undefined) => Layer.Layer<A, E, R>,
  holderTimeout: Duration.DurationInput | undefined
) =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const path = yield* Path.Path
    const { directory } = yield* Settings
    return live(path.join(directory, "berth.db"), holderTimeout)
  }))

const RemoteLive = Layer.mergeAll(SshLive, SftpLive).pipe(
  Layer.provide(ConnectionsLive),
  Layer.merge(FirstContactLive),
  Layer.provide(KnownHostsLive)
)

const UpstreamsLive = Layer.mergeAll(PlatformLive, GitHostLive).pipe(
  Layer.provide(UpstreamLive),
  Layer.provide(BoundedClient)
)

const LocalLive = Layer.mergeAll(
  LocalFilesLive,
  LocalProcessesLive,
  InstanceLive,
  HttpsProbeLive,
  PrivateTokenLive,
  SessionsLive
)

/** Settings alone, for code that reads them before the other services are built. */
export const settingsLive = (settings: SettingsLocation | string) =>
  SettingsLive(settings).pipe(
    Layer.provide(Layer.merge(LocksLive, LocalFilesLive))
  ) satisfies Layer.Layer<Settings, never, FileSystem.FileSystem | Path.Path>

/**
 * Every service that the pipelines use, for one settings file. Requires the file system and paths of the platform:
 * `NodeContext.layer`.
 *
 * Layers are released in reverse order of construction. The runs are built last, so that a shutdown ends them before it
 * closes the connections that they use.
 * @param holderTimeout time that a call waits while another process of this machine holds the store of runs; the usual
 * timeout of the store when absent
 */
export const servicesLive = (settings: SettingsLocation | string, holderTimeout?: Duration.DurationInput) =>
  Layer.mergeAll(
    Layer.provide(RunsLive, AnnouncedHistoryLive),
    // Sessions in containers are recorded without a notification.
    besideSettings(runRecordsLive, holderTimeout),
    ExecsLive
  ).pipe(
    Layer.provideMerge(Layer.provide(NotifierLive, PostLive)),
    Layer.provide(besideSettings(runStoreLive, holderTimeout)),
    Layer.provideMerge(Layer.merge(RemoteLive, UpstreamsLive)),
    // Released after the runs, so that the spans of their last steps are exported.
    Layer.provideMerge(Layer.provide(TelemetryLive, PostLive)),
    Layer.provideMerge(ProjectTrustLive),
    Layer.provideMerge(SettingsLive(settings)),
    Layer.provideMerge(LocksLive),
    Layer.provideMerge(LocalLive)
  ) satisfies Layer.Layer<never, never, FileSystem.FileSystem | Path.Path>
