import type { Overview } from "../../schema/Overview.ts"
import type { Tone } from "../ui/Badge.tsx"
import { counted } from "../ui/words.ts"

/** Something that a person should look at: what, why, and where to do something about it. */
export interface Care {
  readonly key: string
  readonly tone: Tone
  readonly what: string
  readonly why: string
  readonly at: string
  readonly href: string
  readonly action: string
}

const segment = encodeURIComponent

const stacksOf = (overview: Overview): ReadonlyArray<Care> =>
  overview.projects.flatMap(({ name, servers }) =>
    servers.flatMap((stack): ReadonlyArray<Care> =>
      stack.state === "degraded" || stack.state === "stopped"
        ? [{
          key: `stack ${name} ${stack.serverId}`,
          tone: stack.state === "degraded" ? "bad" : "warn",
          what: name,
          why: stack.containers === null
            ? `is ${stack.state}`
            : `is ${stack.state}: ${stack.containers.up} of ${counted(stack.containers.total, "container")} up on ${
              stack.serverName ?? stack.serverId
            }`,
          at: stack.observedAt,
          href: `/projects/${segment(name)}`,
          action: "Read its log"
        }]
        : []
    )
  )

const filesOf = (overview: Overview): ReadonlyArray<Care> =>
  overview.projects.flatMap(({ error, name, observedAt }): ReadonlyArray<Care> =>
    error === undefined ? [] : [{
      key: `files ${name}`,
      tone: "bad",
      what: name,
      why: error,
      at: observedAt,
      href: `/projects/${segment(name)}`,
      action: "Look at the project"
    }]
  )

const applicationsOf = (overview: Overview): ReadonlyArray<Care> =>
  overview.applications.flatMap(({ drift, error, name, observedAt, projectPath }): ReadonlyArray<Care> => {
    const project = overview.projects.find(({ path }) => path === projectPath)
    if (project === undefined) return []
    const href = `/applications/${segment(project.name)}/${segment(name)}`
    const about = { what: name, at: observedAt, href }
    if (error !== undefined) {
      return [{ ...about, key: `app ${name}`, tone: "bad", why: error, action: "Look at it" }]
    }
    return drift === null || drift === 0 ? [] : [{
      ...about,
      key: `app ${name}`,
      tone: "warn",
      why: `has ${counted(drift, "difference")} from its platform.json`,
      action: "See the differences"
    }]
  })

/** What is broken, unreachable or drifting, the worst first. */
export const careOf = (overview: Overview): ReadonlyArray<Care> => {
  const servers = overview.servers.flatMap(({ error, id, name, observedAt }): ReadonlyArray<Care> =>
    error === undefined ? [] : [{
      key: `server ${id}`,
      tone: "bad",
      what: name,
      why: error,
      at: observedAt,
      href: `/servers/${segment(id)}`,
      action: "Look at the server"
    }]
  )
  const all = [...servers, ...filesOf(overview), ...stacksOf(overview), ...applicationsOf(overview)]
  return [...all.filter(({ tone }) => tone === "bad"), ...all.filter(({ tone }) => tone !== "bad")]
}
