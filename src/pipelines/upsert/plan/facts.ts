import { buildFields } from "../../applications/fields.ts"
import { hostPortKey } from "../../applications/hostPort.ts"

const { baseDirectory, branch, buildPack, composeLocation, isStatic, publishDir, repository } = buildFields
const fields = [buildPack, repository, branch, baseDirectory, composeLocation, isStatic, publishDir]

/** What a plan is made from, in the order of its hash, with what to call it. */
export const factLabels = {
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

/** One thing that was read or decided, as JSON, and how it is now in words; no words for a secret. */
export interface Fact {
  readonly value: unknown
  readonly now?: string
}

/** What was read and decided, by the names of `factLabels`. */
export type Facts = Readonly<Record<string, Fact>>

/** What only says something about one and the same application. */
export const factsOfApplication: ReadonlyArray<string> = [
  ...fields.map(({ record }) => record),
  "ports_exposes",
  "fqdn",
  "hostPort",
  "platformSecret",
  "decided"
]
