// Keys of compose files, for the planner and for docs/compose.md. The versions are those whose schema knows a key first.

/** Support of a key by a deploy: as Compose does, in part, or none. */
type KeySupport = "yes" | "partly" | "no"

interface Section {
  /** Names of the keys, by the first version of Compose that knows them; 1.29 stands for the versions before it too. */
  readonly since: Readonly<Record<string, string>>
  /** Support of a key by a deploy, with the reason; about all others, the server's Compose decides. */
  readonly notes?: Readonly<Record<string, readonly [support: KeySupport, reason: string]>>
}

/** Reason of the keys of `build` that Berth gives to no build. */
const notHere = "`berth deploy --build` refuses it; a script of the project can build the image."

/**
 * Every map of a compose file whose keys are fixed, by its path: `*` stands for a name and `[]` for an item of a list.
 */
const table: Readonly<Record<string, Section>> = {
  "": {
    since: {
      "1.29": "configs networks secrets services version volumes",
      "2.3": "name",
      "2.20": "include",
      "2.38": "models",
      "5.8": "jobs"
    },
    notes: {
      configs: ["yes", "Their files are brought."],
      include: ["yes", "Included files and their env files are brought."],
      jobs: [
        "partly",
        "Compose starts those with a schedule, on Docker 29.10 or later with its jobs extension. Berth " +
        "brings no files for them and does not wait for them."
      ],
      models: ["yes", "The server needs Docker Model Runner."],
      name: ["yes", "The name of the stack's project on the server, unless `COMPOSE_PROJECT_NAME` is set."],
      secrets: ["yes", "Their files are brought, and their texts are never shown."],
      version: ["no", "Compose 2 ignores it."],
      volumes: ["yes", "Their data stays on the server; `backups` keeps it."]
    }
  },
  "services.*": {
    since: {
      "1.29": "blkio_config build cap_add cap_drop cgroup_parent command configs container_name cpu_count " +
        "cpu_percent cpu_period cpu_quota cpu_rt_period cpu_rt_runtime cpu_shares cpus cpuset credential_spec " +
        "depends_on deploy device_cgroup_rules devices dns dns_opt dns_search domainname entrypoint env_file " +
        "environment expose extends external_links extra_hosts group_add healthcheck hostname image init ipc " +
        "isolation labels links logging mac_address mem_limit mem_reservation mem_swappiness memswap_limit " +
        "network_mode networks oom_kill_disable oom_score_adj pid pids_limit platform ports privileged " +
        "profiles pull_policy read_only restart runtime scale secrets security_opt shm_size stdin_open " +
        "stop_grace_period stop_signal storage_opt sysctls tmpfs tty ulimits user userns_mode volumes " +
        "volumes_from working_dir",
      "2.15.1": "uts",
      "2.16": "cgroup",
      "2.18": "annotations",
      "2.20": "attach",
      "2.22": "develop",
      "2.30": "gpus post_start pre_stop",
      "2.32": "label_file",
      "2.34": "pull_refresh_after",
      "2.35": "provider",
      "2.37.2": "use_api_socket",
      "2.38": "models",
      "5.3": "pre_start"
    },
    notes: {
      attach: ["no", "A deploy starts the stack in the background."],
      build: [
        "yes",
        "Built here, by `berth deploy --build` or the project's script, and the server gets the image; on the server, " +
        "where `files` sends its directory."
      ],
      configs: ["yes", "The files of the configs are brought. docker-compose 1.29 mounts none of them."],
      credential_spec: ["partly", "For Windows. Its file is brought only if `files` names it."],
      deploy: [
        "partly",
        "Compose takes the replicas, the resources and the restart policy from it. The rest is for Swarm."
      ],
      develop: ["no", "It is for `compose watch` beside the sources."],
      env_file: ["yes", "Brought, with mode 0600."],
      extends: ["yes", "The extended file is brought."],
      healthcheck: ["yes", "A deploy waits until it passes."],
      image: ["yes", "From the image archive, or pulled by the server before the start."],
      label_file: ["yes", "Brought."],
      platform: ["yes", "Without it, an image for another platform than the server's is an obstacle."],
      ports: ["yes", "A port that another stack publishes is an obstacle."],
      profiles: ["yes", "Active are those of `profiles` in `container.json`, or else of `COMPOSE_PROFILES`."],
      provider: ["partly", "The server needs the program that it names."],
      pull_policy: [
        "partly",
        "Compose follows it at the start. Before that, the server pulls what `pull` of `container.json` " +
        "says."
      ],
      scale: ["yes", "A service with 0 is not waited for."],
      secrets: ["yes", "The files of the secrets are brought."],
      use_api_socket: ["yes", "The socket is the server's."],
      volumes: ["yes", "Files and read-only directories of the project are brought."]
    }
  },
  "services.*.build": {
    since: {
      "1.29": "args cache_from context dockerfile extra_hosts isolation labels network shm_size target",
      "2.4": "cache_to no_cache pull ssh",
      "2.5": "secrets",
      "2.5.1": "tags",
      "2.10": "platforms",
      "2.15": "privileged",
      "2.17": "additional_contexts dockerfile_inline",
      "2.23.1": "ulimits",
      "2.27": "entitlements",
      "2.39": "provenance sbom",
      "5.0": "no_cache_filter"
    },
    notes: {
      platforms: ["partly", "One platform: a server runs one."],
      additional_contexts: ["no", notHere],
      cache_to: ["no", notHere],
      entitlements: ["no", notHere],
      isolation: ["no", notHere],
      no_cache_filter: ["no", notHere],
      privileged: ["no", notHere],
      provenance: ["no", notHere],
      sbom: ["no", notHere],
      secrets: ["no", notHere],
      ssh: ["no", notHere],
      tags: ["no", notHere],
      ulimits: ["no", notHere]
    }
  },
  "services.*.build.secrets[]": { since: { "2.5": "gid mode source target uid" } },
  "services.*.build.ulimits.*": { since: { "2.23.1": "hard soft" } },
  "services.*.deploy": {
    since: {
      "1.29": "endpoint_mode labels mode placement replicas resources restart_policy rollback_config update_config"
    },
    notes: {
      endpoint_mode: ["no", "For Swarm."],
      labels: ["no", "For Swarm."],
      mode: ["no", "For Swarm."],
      placement: ["no", "For Swarm."],
      rollback_config: ["no", "For Swarm."],
      update_config: ["no", "For Swarm."]
    }
  },
  "services.*.deploy.resources": { since: { "1.29": "limits reservations" } },
  "services.*.deploy.resources.limits": { since: { "1.29": "cpus memory", "2.3": "pids" } },
  "services.*.deploy.resources.reservations": { since: { "1.29": "cpus devices generic_resources memory" } },
  "services.*.deploy.resources.reservations.devices[]": {
    since: { "1.29": "capabilities count device_ids driver options" }
  },
  "services.*.deploy.restart_policy": { since: { "1.29": "condition delay max_attempts window" } },
  "services.*.deploy.placement": { since: { "1.29": "constraints max_replicas_per_node preferences" } },
  "services.*.deploy.placement.preferences[]": { since: { "1.29": "spread" } },
  "services.*.deploy.update_config": {
    since: { "1.29": "delay failure_action max_failure_ratio monitor order parallelism" }
  },
  "services.*.deploy.rollback_config": {
    since: { "1.29": "delay failure_action max_failure_ratio monitor order parallelism" }
  },
  "services.*.develop": { since: { "2.22": "watch" } },
  "services.*.develop.watch[]": {
    since: { "2.22": "action ignore path target", "2.32": "exec", "2.34": "include", "2.39.4": "initial_sync" }
  },
  "services.*.develop.watch[].exec": { since: { "2.32": "command environment privileged user working_dir" } },
  "services.*.volumes[]": {
    since: { "1.29": "bind consistency read_only source target tmpfs type volume", "2.35": "image" },
    notes: {
      consistency: ["no", "For Docker Desktop on a Mac."]
    }
  },
  "services.*.volumes[].bind": {
    since: { "1.29": "propagation", "2.0": "create_host_path", "2.3": "selinux", "2.30": "recursive" },
    notes: {
      create_host_path: ["yes", "With `true`, a missing directory does not stop a deploy."]
    }
  },
  "services.*.volumes[].volume": { since: { "1.29": "nocopy", "2.25": "subpath", "2.35": "labels" } },
  "services.*.volumes[].tmpfs": { since: { "1.29": "size", "2.14": "mode" } },
  "services.*.volumes[].image": { since: { "2.35": "subpath" } },
  "services.*.ports[]": {
    since: { "1.29": "mode protocol published target", "2.0": "host_ip", "2.25": "app_protocol name" },
    notes: {
      mode: ["no", "For Swarm."]
    }
  },
  "services.*.networks.*": {
    since: {
      "1.29": "aliases ipv4_address ipv6_address link_local_ips priority",
      "2.23.2": "mac_address",
      "2.27.1": "driver_opts",
      "2.33": "gw_priority",
      "2.36": "interface_name"
    }
  },
  "services.*.depends_on.*": { since: { "1.29": "condition", "2.17": "restart", "2.20": "required" } },
  "services.*.env_file[]": { since: { "2.24": "path required", "2.30": "format" } },
  "services.*.extends": { since: { "1.29": "file service" } },
  "services.*.healthcheck": {
    since: { "1.29": "disable interval retries start_period test timeout", "2.20.2": "start_interval" }
  },
  "services.*.logging": { since: { "1.29": "driver options" } },
  "services.*.configs[]": {
    since: { "1.29": "gid mode source target uid" },
    notes: {
      uid: ["partly", "Compose ignores it for a file, which keeps its owner and its mode on the server."],
      gid: ["partly", "Compose ignores it for a file, which keeps its owner and its mode on the server."],
      mode: ["partly", "Compose ignores it for a file, which keeps its owner and its mode on the server."]
    }
  },
  "services.*.secrets[]": {
    since: { "1.29": "gid mode source target uid" },
    notes: {
      uid: ["partly", "Compose ignores it for a file, which keeps its owner and its mode on the server."],
      gid: ["partly", "Compose ignores it for a file, which keeps its owner and its mode on the server."],
      mode: ["partly", "Compose ignores it for a file, which keeps its owner and its mode on the server."]
    }
  },
  "services.*.ulimits.*": { since: { "1.29": "hard soft" } },
  "services.*.devices[]": { since: { "2.29.3": "permissions source target" } },
  "services.*.gpus[]": { since: { "2.30": "capabilities count device_ids driver options" } },
  "services.*.credential_spec": { since: { "1.29": "config file registry" } },
  "services.*.blkio_config": {
    since: { "1.29": "device_read_bps device_read_iops device_write_bps device_write_iops weight weight_device" }
  },
  "services.*.blkio_config.device_read_bps[]": { since: { "1.29": "path rate" } },
  "services.*.blkio_config.device_read_iops[]": { since: { "1.29": "path rate" } },
  "services.*.blkio_config.device_write_bps[]": { since: { "1.29": "path rate" } },
  "services.*.blkio_config.device_write_iops[]": { since: { "1.29": "path rate" } },
  "services.*.blkio_config.weight_device[]": { since: { "1.29": "path weight" } },
  "services.*.provider": { since: { "2.35": "options type" } },
  "services.*.models.*": { since: { "2.38": "endpoint_var", "2.38.1": "model_var" } },
  "services.*.pre_start[]": { since: { "5.3": "command environment image per_replica privileged user working_dir" } },
  "services.*.post_start[]": { since: { "2.30": "command environment privileged user working_dir" } },
  "services.*.pre_stop[]": { since: { "2.30": "command environment privileged user working_dir" } },
  "include[]": { since: { "2.20": "env_file path project_directory" } },
  "networks.*": {
    since: {
      "1.29": "attachable driver driver_opts enable_ipv6 external internal ipam labels name",
      "2.33": "enable_ipv4"
    },
    notes: {
      external: ["yes", "The network must exist on the server."]
    }
  },
  "networks.*.ipam": { since: { "1.29": "config driver options" } },
  "networks.*.ipam.config[]": { since: { "1.29": "aux_addresses gateway ip_range subnet" } },
  "volumes.*": {
    since: { "1.29": "driver driver_opts external labels name" },
    notes: {
      external: ["yes", "The volume must exist on the server."]
    }
  },
  "configs.*": {
    since: { "1.29": "external file labels name template_driver", "2.23.1": "content environment" },
    notes: {
      external: ["no", "For Swarm."],
      template_driver: ["no", "For Swarm."]
    }
  },
  "secrets.*": {
    since: { "1.29": "driver driver_opts external file labels name template_driver", "2.6": "environment" },
    notes: {
      external: ["no", "For Swarm."],
      template_driver: ["no", "For Swarm."],
      driver: ["no", "For Swarm."],
      driver_opts: ["no", "For Swarm."]
    }
  },
  "models.*": { since: { "2.38": "context_size model name runtime_flags" } }
}

/** Newest version of Compose whose keys the table has; a later one may know others. */
export const newestKnownCompose = "5.3"

/** Tags of compose files, with the first version that follows them: earlier ones refuse them or pass over them. */
export const composeTags: ReadonlyMap<string, string> = new Map([["!reset", "2.18"], ["!override", "2.24.4"]])

/** A key of the table. */
export interface ComposeKey {
  readonly name: string
  /** First version of Compose that knows it. */
  readonly since: string
  readonly support: KeySupport
  /** Reason, if the support is not simply that of the server's Compose. */
  readonly reason?: string
}

/** A map of a compose file whose keys are fixed. */
interface ComposeSection {
  /** Steps of its path: `services`, `*`, `volumes`, `[]`. */
  readonly steps: ReadonlyArray<string>
  readonly keys: ReadonlyMap<string, ComposeKey>
}

const listKeys = ({ notes = {}, since }: Section): ReadonlyArray<ComposeKey> =>
  Object.entries(since).flatMap(([version, names]) =>
    names.split(" ").map((name): ComposeKey => {
      const note = Object.hasOwn(notes, name) ? notes[name] : undefined
      return note === undefined
        ? { name, since: version, support: "yes" }
        : { name, since: version, support: note[0], reason: note[1] }
    })
  )

/** All sections by their path, the outer ones first. */
export const composeSections: ReadonlyMap<string, ComposeSection> = new Map(
  Object.entries(table).map(([path, section]) => [path, {
    steps: path.split(/\.|(?=\[\])/).filter((step) => step !== ""),
    keys: new Map(listKeys(section).map((key) => [key.name, key]))
  }])
)
