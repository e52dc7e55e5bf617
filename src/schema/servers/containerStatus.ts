// Container states, read from the status text of `docker ps`.

/** True if a container runs. */
export const isUp = (status: string): boolean => status.startsWith("Up ")

/** True if a container runs and its health check fails, or it is paused. */
export const isUnhealthy = (status: string): boolean => /\((?:unhealthy|Paused)\)/.test(status)

/** True if a container has ended with exit code 0. */
export const isCompleted = (status: string): boolean => status.startsWith("Exited (0)")

/** True if Docker restarts a container again and again. */
export const isRestarting = (status: string): boolean => status.startsWith("Restarting")
