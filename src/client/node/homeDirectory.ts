// The command line means the same home by `~` as the service of its machine.
export { resolveHomeDirectory as homeDirectory } from "../../services/local/resolveHomeDirectory.ts"
