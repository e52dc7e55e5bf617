import { Predicate, type Redacted } from "effect"
import { type Raw, recordFields } from "../../schema/applications.ts"
import { hostPortKey } from "../../schema/declaredFields.ts"
import { mask } from "../../schema/words.ts"
import { mayBeCredentialName, redactText, scrubText } from "../masking.ts"

const declaredKeys = recordFields.map(({ record }): string => record.key)

/**
 * Fields of the platform's records that every caller may read, under their neutral names and Coolify's. Deliberately
 * excludes fields that may hold values of variables or credentials, such as compose texts, Dockerfiles, labels,
 * commands and the configuration of a proxy or a log drain.
 */
const ofApplications = [
  ...declaredKeys,
  "name",
  "description",
  "status",
  "fqdn",
  "domains",
  "noindex_domains",
  "git_commit_sha",
  "git_full_url",
  "dockerfile_location",
  "dockerfile_target_build",
  "docker_compose_domains",
  "docker_registry_image_name",
  "docker_registry_image_tag",
  "static_image",
  "ports_exposes",
  "ports_mappings",
  "custom_network_aliases",
  "health_check_host",
  "health_check_interval",
  "health_check_method",
  "health_check_path",
  "health_check_port",
  "health_check_retries",
  "health_check_return_code",
  "health_check_scheme",
  "health_check_start_period",
  "health_check_timeout",
  "limits_cpu_shares",
  "limits_cpus",
  "limits_cpuset",
  "limits_memory",
  "limits_memory_reservation",
  "limits_memory_swap",
  "limits_memory_swappiness",
  "max_restart_count",
  "restart_count",
  "preview_url_template",
  "redirect",
  "swarm_placement_constraints",
  "swarm_replicas",
  "watch_paths",
  "compose_parsing_version",
  "config_hash",
  "environment_name"
]

const ofVariables = ["key", "order", "version"]

const ofServers = [
  "ip",
  "port",
  "user",
  "proxy_type",
  "unreachable_count",
  "wildcard_domain",
  "network",
  "concurrent_builds",
  "deployment_queue_limit",
  "dynamic_timeout",
  "connection_timeout",
  "docker_cleanup_frequency",
  "docker_cleanup_threshold",
  "sentinel_metrics_history_days",
  "sentinel_metrics_refresh_rate_seconds"
]

const ofAnswers = ["message", "status_code"]

/** Fields that every caller may read. */
export const disclosedFieldNames: ReadonlySet<string> = new Set([
  ...ofApplications,
  ...ofVariables,
  ...ofServers,
  ...ofAnswers
])

/** Fields that hold records, whose own fields are filtered one by one. */
export const nestedRecords: ReadonlySet<string> = new Set([
  "additional_networks",
  "additional_servers",
  "deployments",
  "destination",
  "environment",
  "environment_variables",
  "environment_variables_preview",
  "project",
  "server",
  "settings",
  "tags"
])

/** Recognizes identifiers and times. They are not scrubbed, because callers send them back. */
export const isIdentifier = (name: string): boolean => /^(?:u?u?id|name|key)$|_u?u?id$|_at$/.test(name)

/** Variable whose value every caller may read: the proxy's routes show the port anyway. */
export const openVariable = hostPortKey

/** The reader of a record. */
export interface RecordReader {
  /** May read values of variables, and with them every field that is not known to be harmless. */
  readonly seesValues: boolean
  /** Secrets in use, which are never disclosed. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

/** Readers of a field: all callers, those who may see values, or none. */
type Judgement = "open" | "value" | "credential"

const valueFields = ["value", "real_value"]

/** True for values that reveal nothing: absent ones and flags. */
const tellsNothing = (value: unknown) =>
  value === null || value === undefined || value === "" || Predicate.isBoolean(value)

const judged = (name: string, around: Judgement): Judgement =>
  disclosedFieldNames.has(name) || isIdentifier(name) ? "open" : mayBeCredentialName(name) ? "credential" : around

const isOpenVariable = (record: Raw) => record["key"] === openVariable

/** Removes data that a reader may not see from the platform's responses. */
export interface Disclosure {
  readonly record: (record: Raw) => Raw
  /** Text of a field that every caller may read. */
  readonly text: (text: string) => string
  /** Body of any response that is relayed. */
  readonly body: (body: unknown) => unknown
}

/**
 * Filters the platform's responses for a reader. Fields of `openFields` are always disclosed; fields named like a
 * credential are masked for everyone; any other field, which a newer platform may have added, is disclosed only to
 * readers who see values.
 * Disclosed values are scrubbed, except identifiers. Masked fields are kept, so that a record keeps its shape.
 */
export const discloseTo = ({ secrets, seesValues }: RecordReader): Disclosure => {
  const disclose = (value: unknown, judgement: Judgement, isName: boolean): unknown => {
    if (tellsNothing(value)) return value
    if (judgement === "credential" || (judgement === "value" && !seesValues)) return mask
    if (Predicate.isString(value)) {
      if (isName) return value
      return judgement === "open" ? redactText(value, secrets) : scrubText(value, secrets)
    }
    if (Array.isArray(value)) return value.map((item) => disclose(item, judgement, isName))
    return Predicate.isReadonlyRecord(value) ? fieldsOf(value, judgement) : value
  }
  const field = (record: Raw, name: string, value: unknown, around: Judgement): unknown =>
    nestedRecords.has(name) && Predicate.isObject(value)
      ? body(value)
      : isOpenVariable(record) && valueFields.includes(name)
      ? disclose(value, "open", false)
      : disclose(value, judged(name, around), isIdentifier(name))
  const fieldsOf = (record: Raw, around: Judgement): Raw =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, field(record, name, value, around)]))
  const record = (fields: Raw) => fieldsOf(fields, "value")
  const body = (answer: unknown): unknown =>
    Array.isArray(answer)
      ? answer.map(body)
      : Predicate.isReadonlyRecord(answer)
      ? record(answer)
      : disclose(answer, "open", false)
  return { record, text: (text) => redactText(text, secrets), body }
}
