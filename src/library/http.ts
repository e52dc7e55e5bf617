/** The contract of the service as an Effect `HttpApi`, and the server that implements it. */
export { ApiError } from "../http/api/annotations.ts"
export { BerthApi } from "../http/api/BerthApi.ts"
export { CannotListen, NotStarted, TokenRequired } from "../http/listen.ts"
export { EndpointsLive, Http } from "../http/server.ts"
export { serve } from "../serve.ts"
