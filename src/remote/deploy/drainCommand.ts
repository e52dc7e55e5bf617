import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"

/** Reads its input to the end and discards it. */
export const drainCommand: RemoteCommand = {
  what: "measuring the line",
  script: "cat >/dev/null",
  args: [],
  sudo: false
}
