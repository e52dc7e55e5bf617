/** The client of a service, wherever it runs, and the contract that both share. */
export { Berth, BerthError, layer, make, RunEvent } from "./client/index.ts"
export type {
  Address,
  Answer,
  Call,
  Door,
  Endpoints,
  FollowedLines,
  FollowedLogs,
  FollowedProjects,
  StartedRun
} from "./client/index.ts"
export { connect, type NoAddress, type ServiceSelection } from "./client/node/connect.ts"
export { inProcess } from "./client/node/inProcess.ts"
export { overHttp } from "./client/node/overHttp.ts"
export { BerthApi } from "./http/api/BerthApi.ts"
export { version } from "./schema/session.ts"
