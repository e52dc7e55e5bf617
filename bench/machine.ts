import { cpus } from "node:os"
import { shell } from "./shell.ts"

/** Describes the machine that was measured, with the version of compose, which matters most. */
export const machine = async (
  env: Readonly<Record<string, string>>
): Promise<{ readonly words: string; readonly compose: string }> => {
  const [docker, compose, ssh, rsync] = await Promise.all([
    shell("docker info --format '{{.ServerVersion}} ({{.Driver}})'", [], { env }),
    shell("docker compose version --short 2>/dev/null || docker-compose version --short", [], { env }),
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
  return { words: parts.filter((part) => part !== "").join(", "), compose: compose.out }
}
