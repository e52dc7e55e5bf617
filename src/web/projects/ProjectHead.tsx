import type { ReactNode } from "react"
import { Link } from "wouter"
import type { LocalProject } from "../../schema/Project.ts"
import type { Server } from "../../schema/Server.ts"
import { Age } from "../ui/Age.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Head } from "../ui/Head.tsx"
import { portsOf, type Standing } from "./standing.ts"

/** The top of a project's screen: its state with its age, where it is, and what can be done. */
export const ProjectHead = ({ children, project: { name, remotePath, tarFile }, server, standing }: {
  readonly project: LocalProject
  readonly server: Server | undefined
  readonly standing: Standing
  readonly children: ReactNode
}) => {
  const ports = portsOf(standing.containers)
  return (
    <Head
      title={name}
      under={{ name: "Projects", href: "/" }}
      state={
        <>
          <Badge tone={standing.tone}>{standing.words}</Badge>
          <Age at={standing.seenAt} before="seen " />
        </>
      }
      facts={[
        ...server === undefined ? [] : [
          [
            "Server",
            <Link href={`/servers/${encodeURIComponent(server.id)}`}>
              {server.name} · {server.username}@{server.host}:{server.port}
            </Link>
          ] as const
        ],
        ["Path", <code>{remotePath}</code>],
        ...ports === "" ? [] : [["Ports", <code>{ports}</code>] as const],
        ["Archive", tarFile === null ? "none" : <code>{tarFile}</code>]
      ]}
      actions={children}
    />
  )
}
