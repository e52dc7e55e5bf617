import type { Container } from "../../schema/servers/Container.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"

const script = `as_root docker ps \${1:+"$1"} --format '{{.Names}}\t{{.Status}}\t{{.Ports}}' </dev/null`

/** Lists the running containers, one per line; with `all` also the others. */
export const containersCommand = (sudo: boolean, all = false): RemoteCommand => ({
  what: "listing containers",
  script,
  args: all ? ["--all"] : [],
  sudo
})

/** Name of a container without the aliases of linked containers, which Docker adds to it: "db,web/db". */
export const parseContainerName = (names: string) => names.split(",").find((name) => !name.includes("/")) ?? names

/** Parses the answer of `containersCommand`. */
export const parseContainers = (output: string): ReadonlyArray<Container> =>
  output.split("\n").flatMap((line) => {
    const [names = "", status = "", ports = ""] = line.replace(/\r$/, "").split("\t")
    return names === "" ? [] : [{ name: parseContainerName(names), status, ports }]
  })
