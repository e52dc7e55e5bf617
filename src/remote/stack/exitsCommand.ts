import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"

// Docker keeps its last 256 events. The state of a container that is running again has no exit code.
const script = `until=$(date +%s)
for id do
  as_root docker events --since 24h --until "$until" --filter type=container --filter event=die --filter "container=$id" \\
    --format '{{.Actor.ID}} {{.Actor.Attributes.exitCode}}' </dev/null | tail -n 1
done`

/** Reads the last exit codes of containers that are running again. */
export const exitsCommand = (ids: ReadonlyArray<string>, sudo: boolean): RemoteCommand => ({
  what: "asking for exit codes",
  script,
  args: ids,
  sudo
})

/** Parses the answer of `exitsCommand`: the last exit code of each container by id, if known. */
export const parseExits = (output: string): ReadonlyMap<string, number> =>
  new Map(
    output.split("\n").flatMap((line) => {
      const [, id, code] = /^([0-9a-f]+) (\d+)$/.exec(line) ?? []
      return id === undefined ? [] : [[id, Number(code)] as const]
    })
  )
