import type { Container } from "../../schema/Container.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"

const script = `as_root docker ps --format '{{.Names}}\t{{.Status}}\t{{.Ports}}' </dev/null`

/** Lists the running containers, a line each. */
export const containersCommand = (sudo: boolean): RemoteCommand => ({
  what: "listing containers",
  script,
  args: [],
  sudo
})

// Docker adds the aliases of linked containers to the name: "db,web/db".
const ownName = (names: string) => names.split(",").find((name) => !name.includes("/")) ?? names

/** Reads the answer of `containersCommand`. */
export const parseContainers = (output: string): ReadonlyArray<Container> =>
  output.split("\n").flatMap((line) => {
    const [names = "", status = "", ports = ""] = line.replace(/\r$/, "").split("\t")
    return names === "" ? [] : [{ name: ownName(names), status, ports }]
  })
