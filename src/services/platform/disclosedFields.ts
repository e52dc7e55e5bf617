import { hostPortKey } from "../../schema/applications/hostPortKey.ts"
import { recordFields } from "../../schema/applications/recordColumns.ts"

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
