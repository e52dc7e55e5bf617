/** Environment variable with the port of an application. */
export const hostPortKey = "HOST_PORT"
