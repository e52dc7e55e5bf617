export {
  type Address,
  type Answer,
  Berth,
  type Call,
  type Door,
  type Endpoints,
  layer,
  make,
  type StartedRun
} from "./Berth.ts"
export { BerthError } from "./BerthError.ts"
export type { FollowedLines, FollowedLogs, FollowedProjects } from "./streams.ts"
export { RunEvent } from "./streams.ts"
