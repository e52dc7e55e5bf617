import { cpus } from "node:os"
import { shell } from "./shell.ts"

/** What the numbers were measured on. */
export const machine = async (): Promise<string> => {
  const [docker, compose, ssh, rsync] = await Promise.all([
    shell("docker version --format '{{.Server.Version}}'"),
    shell("docker compose version --short 2>/dev/null || docker-compose version --short"),
    shell("ssh -V 2>&1 | cut -d , -f 1"),
    shell("rsync --version | sed -n '1s/.*version \\([^ ]*\\).*/rsync \\1/p' || :")
  ])
  const processors = cpus()
  const parts = [
    `${processors.length} cores of ${processors[0]?.model ?? "an unnamed processor"}`,
    `Node ${process.versions.node}`,
    `Docker ${docker.out}`,
    `compose ${compose.out}`,
    ssh.out,
    rsync.out
  ]
  return parts.filter((part) => part !== "").join(", ")
}
