// `~` must be the same directory for the command line as for the service on this machine.
export { resolveHomeDirectory as homeDirectory } from "../../services/local/resolveHomeDirectory.ts"
