import { exposedPorts } from "../../schema/applications/declaredFields.ts"
import { hostPortKey } from "../../schema/applications/hostPortKey.ts"
import { recordFields } from "../../schema/applications/recordColumns.ts"
import type { FactKinds } from "../plans/Fact.ts"

const labels = {
  entry: "the entry in platform.json",
  settings: "a setting that applications are made with",
  server: "the server",
  application: "the application on the platform",
  ...Object.fromEntries(recordFields.map(({ label, record: { key } }) => [key, `${label} (${key})`])),
  [exposedPorts.key]: `${exposedPorts.label} (${exposedPorts.key})`,
  fqdn: "Domain (fqdn)",
  hostPort: hostPortKey,
  route: "the proxy file",
  secret: "the setting gitHost.webhookSecret",
  platformSecret: "the application's webhook secret",
  hooks: "the repository's list of webhooks",
  decided: "what the steps would do"
} satisfies Readonly<Record<string, string>>

/** Facts about the application, implied if another application is meant. */
const factsOfApplication: ReadonlyArray<string> = [
  ...recordFields.map(({ record }) => record.key),
  exposedPorts.key,
  "fqdn",
  "hostPort",
  "platformSecret",
  "decided"
]

/** Facts that the hash of an upsert's plan covers. */
export const upsertFacts: FactKinds = {
  labels,
  // The steps follow from the other facts, so they are only reported if nothing else has changed.
  isImplied: (name, moved) =>
    (moved.includes("application") && factsOfApplication.includes(name)) || (name === "decided" && moved.length > 1)
}
