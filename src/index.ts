/** Berth for TypeScript: the client of its service, wherever that is, and the contract that both go by. */
export * from "./client/index.ts"
export { connect } from "./client/node/connect.ts"
export { inProcess } from "./client/node/inProcess.ts"
export { overHttp } from "./client/node/overHttp.ts"
export { BerthApi } from "./http/api/BerthApi.ts"
export { version } from "./schema/version.ts"
