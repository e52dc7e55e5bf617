/** TypeScript library of Berth: the client of a service, wherever it runs, and the contract that both share. */
export * from "./client/index.ts"
export { connect } from "./client/node/connect.ts"
export { inProcess } from "./client/node/inProcess.ts"
export { overHttp } from "./client/node/overHttp.ts"
export { BerthApi } from "./http/api/BerthApi.ts"
export { version } from "./schema/version.ts"
