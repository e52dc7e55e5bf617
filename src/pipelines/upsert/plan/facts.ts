import { buildFields } from "../../applications/fields.ts"
import { hostPortKey } from "../../applications/hostPort.ts"
import type { FactKinds } from "../../plans/Fact.ts"

const { baseDirectory, branch, buildPack, composeLocation, isStatic, publishDir, repository } = buildFields
const fields = [buildPack, repository, branch, baseDirectory, composeLocation, isStatic, publishDir]

const labels = {
  entry: "the entry in platform.json",
  settings: "a setting that applications are made with",
  server: "the server",
  application: "the application on the platform",
  ...Object.fromEntries(fields.map(({ label, record }) => [record, `${label} (${record})`])),
  ports_exposes: "Exposed ports (ports_exposes)",
  fqdn: "Domain (fqdn)",
  hostPort: hostPortKey,
  route: "the proxy file",
  secret: "the setting gitHost.webhookSecret",
  platformSecret: "the application's webhook secret",
  hooks: "the repository's list of webhooks",
  decided: "what the steps would do"
} satisfies Readonly<Record<string, string>>

/** What only says something about one and the same application. */
const factsOfApplication: ReadonlyArray<string> = [
  ...fields.map(({ record }) => record),
  "ports_exposes",
  "fqdn",
  "hostPort",
  "platformSecret",
  "decided"
]

/** What a plan of an upsert is made from. */
export const upsertFacts: FactKinds = {
  labels,
  // What the steps would do follows from the rest, and is told only where nothing else is.
  isImplied: (name, moved) =>
    (moved.includes("application") && factsOfApplication.includes(name)) || (name === "decided" && moved.length > 1)
}
