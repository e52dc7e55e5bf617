import type { ReactNode } from "react"
import { Link } from "wouter"
import type { LocalProject } from "../../schema/projects/Project.ts"
import type { Server } from "../../schema/servers/Server.ts"
import { Age } from "../ui/Age.tsx"
import { Badge } from "../ui/Badge.tsx"
import { CopyButton } from "../ui/CopyButton.tsx"
import { Head } from "../ui/Head.tsx"
import { Links, OutLink } from "../ui/Links.tsx"
import type { ObservedState } from "./state/projectState.ts"

/** Header of a project's screen, which stays visible: state, link, actions and tabs. */
export const ProjectHead = ({ actions, name, standing, tabs }: {
  readonly name: string
  readonly standing: ObservedState
  readonly actions: ReactNode
  readonly tabs: ReactNode
}) => {
  const [url] = standing.urls
  return (
    <div className="project-head">
      <Head
        title={name}
        under={{ name: "Projects", href: "/" }}
        state={
          <>
            <Badge tone={standing.tone}>{standing.words}</Badge>
            <Age at={standing.seenAt} before="seen " />
            {url === undefined ? null : <OutLink url={url} />}
          </>
        }
        actions={actions}
      />
      {tabs}
    </div>
  )
}

/** Location and links of a project; paths and links can be copied. */
export const ProjectFacts = ({ project: { path, remotePath, tarFile }, server, urls }: {
  readonly project: LocalProject
  readonly server: Server | undefined
  readonly urls: ReadonlyArray<string>
}) => (
  <dl className="facts project-facts">
    {urls.length === 0 ? null : (
      <div>
        <dt>Links</dt>
        <dd>
          <Links urls={urls} />
        </dd>
      </div>
    )}
    {server === undefined ? null : (
      <div>
        <dt>Server</dt>
        <dd>
          <Link href={`/servers/${encodeURIComponent(server.id)}`}>
            {server.name} · {server.username}@{server.host}:{server.port}
          </Link>
        </dd>
      </div>
    )}
    <div>
      <dt>Path</dt>
      <dd className="with-copy">
        <code>{remotePath}</code>
        <CopyButton name="the remote path" text={remotePath} />
      </dd>
    </div>
    <div>
      <dt>Here</dt>
      <dd className="with-copy">
        <code>{path}</code>
        <CopyButton name="the local path" text={path} />
      </dd>
    </div>
    <div>
      <dt>Archive</dt>
      <dd>{tarFile === null ? "none" : <code>{tarFile}</code>}</dd>
    </div>
  </dl>
)
