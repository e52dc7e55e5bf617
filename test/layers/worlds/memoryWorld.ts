import { Path } from "@effect/platform"
import { type Effect, Layer, Redacted, Struct } from "effect"
import type { SettingName } from "../../../src/schema/settings.ts"
import type { SshError } from "../../../src/schema/ssh.ts"
import { StepsLive } from "../../../src/services/runs/Steps.ts"
import type { RemoteExit } from "../../../src/services/ssh/Ssh.ts"
import { localFilesTest, type LocalFixture, localProcessesTest } from "../../../src/testing/LocalFilesTest.ts"
import {
  gitHostTest,
  type GitHostTestOptions,
  platformTest,
  type PlatformTestOptions
} from "../../../src/testing/PlatformTest.ts"
import { runsTest } from "../../../src/testing/RunsTest.ts"
import { type SettingsFixture, settingsTest, storedServer } from "../../../src/testing/SettingsTest.ts"
import { proxyFileTest } from "../../../src/testing/SshTest.ts"
import { plainFile } from "../../pipelines/routes/proxyFiles.ts"

/** The server that holds the proxy file. */
const proxyServer = storedServer({ useSudo: true })

/** Settings for everything that an upsert needs, the webhook included. */
export const everySetting: SettingsFixture = {
  "platform.url": "http://platform.test/api",
  "platform.token": Redacted.make("platform-token"),
  "platform.projectUuid": "project-sandbox",
  "platform.privateKeyUuid": "key-sandbox",
  "platform.defaultServerUuid": "server-main",
  "gitHost.url": "http://git.test",
  "gitHost.token": Redacted.make("git-token"),
  "gitHost.sshHost": "git.test",
  "gitHost.owner": "ann",
  "gitHost.webhookSecret": Redacted.make("hook-secret"),
  "proxy.configFile": "/etc/proxy/dynamic.yml",
  "proxy.targetIp": "192.168.1.20"
}

export const platformServers = [
  { uuid: "server-main", name: "main", ip: "192.168.1.20" },
  { uuid: "server-web", name: "web", ip: "192.168.1.30" },
  { uuid: "server-here", name: "here", ip: "host.docker.internal" },
  { uuid: "server-local", name: "localhost", ip: "10.0.0.9" }
]

export interface MemoryWorld {
  readonly files?: Readonly<Record<string, LocalFixture>>
  readonly settings?: SettingsFixture
  /** Address of the server that holds the proxy file. */
  readonly proxyHost?: string
  /** Settings that are not there. */
  readonly without?: ReadonlyArray<SettingName>
  readonly platform?: PlatformTestOptions
  readonly gitHost?: GitHostTestOptions
  readonly proxy?: string
  /** Failure of reading the proxy file. */
  readonly unreadProxy?: Effect.Effect<RemoteExit, SshError>
}

/** Everything that the pipelines of the platform need, in memory. The project is in /srv/shop. */
export const memoryWorld = (
  { files, gitHost, platform, proxy, proxyHost, settings, unreadProxy, without = [] }: MemoryWorld = {}
) =>
  Layer.mergeAll(
    localFilesTest(files),
    localProcessesTest({}),
    Path.layer,
    platformTest({ servers: platformServers, ...platform }),
    gitHostTest({ repositories: { "ann/shop": [] }, ...gitHost }),
    proxyFileTest("/etc/proxy/dynamic.yml", proxy ?? plainFile, unreadProxy),
    runsTest,
    StepsLive
  ).pipe(
    Layer.provideMerge(
      settingsTest(Struct.omit({ ...everySetting, ...settings }, ...without), [{
        ...proxyServer,
        ...(proxyHost === undefined ? {} : { host: proxyHost })
      }])
    )
  )

/** The files of a project in /srv/shop that declares these applications. */
export const declaring = (entries: unknown): Readonly<Record<string, LocalFixture>> => ({
  "/srv/shop/platform.json": JSON.stringify(entries)
})
