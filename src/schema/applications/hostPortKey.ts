/** The environment variable whose value is the port that an application is reached at. */
export const hostPortKey = "HOST_PORT"
