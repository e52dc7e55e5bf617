import { type FileSystem, Path } from "@effect/platform"
import { type Duration, Effect, Layer } from "effect"
import { ExecsLive } from "./exec/Execs.ts"
import { GitHostLive } from "./githost/GitHostLive.ts"
import { HostKeysLive } from "./hostKeys/HostKeysLive.ts"
import { LocalFilesLive } from "./local/LocalFilesLive.ts"
import { LocalProcessesLive } from "./local/LocalProcessesLive.ts"
import { LocksLive } from "./locks/Locks.ts"
import { AnnouncedHistoryLive } from "./notify/AnnouncedHistory.ts"
import { NotifierLive } from "./notify/NotifierLive.ts"
import { PostLive } from "./notify/PostLive.ts"
import { PlatformLive } from "./platform/PlatformLive.ts"
import { RunsLive } from "./runs/engine/RunsLive.ts"
import { InstanceLive } from "./runs/Instance.ts"
import { SessionsLive } from "./sessions/Sessions.ts"
import type { SettingsLocation } from "./settings/file/locateSettings.ts"
import { Settings } from "./settings/Settings.ts"
import { SettingsLive } from "./settings/SettingsLive.ts"
import { ConnectionsLive } from "./ssh/Connections.ts"
import { FirstContactLive } from "./ssh/FirstContact.ts"
import { SftpLive } from "./ssh/SftpLive.ts"
import { SshLive } from "./ssh/SshLive.ts"
import { PrivateTokenLive } from "./state/discovery/PrivateToken.ts"
import { runRecordsLive } from "./state/RunRecordsLive.ts"
import { runStoreLive } from "./state/RunStoreLive.ts"
import { TelemetryLive } from "./telemetry/Telemetry.ts"
import { HttpsProbeLive } from "./tls/HttpsProbeLive.ts"
import { BoundedClient } from "./upstream/boundedClient.ts"
import { UpstreamLive } from "./upstream/Upstream.ts"

/** Stores known host keys beside the settings file. */
const KnownHostsLive = Layer.unwrapEffect(Effect.gen(function*() {
  const path = yield* Path.Path
  const { file } = yield* Settings
  return HostKeysLive(path.join(path.dirname(file), "berth.known_hosts"))
}))

/** Places the store of runs beside the settings file, unless the settings name a database. */
const besideSettings = <A, E, R>(
  live: (file: string, holderTimeout: Duration.DurationInput | undefined) => Layer.Layer<A, E, R>,
  holderTimeout: Duration.DurationInput | undefined
) =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const path = yield* Path.Path
    const { file } = yield* Settings
    return live(path.join(path.dirname(file), "berth.db"), holderTimeout)
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
    Layer.provideMerge(SettingsLive(settings)),
    Layer.provideMerge(LocksLive),
    Layer.provideMerge(LocalLive)
  ) satisfies Layer.Layer<never, never, FileSystem.FileSystem | Path.Path>
