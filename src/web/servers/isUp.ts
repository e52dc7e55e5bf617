import type { Container } from "../../schema/servers/Container.ts"

/** True if a container runs. */
export const isUp = ({ status }: Container): boolean => status.startsWith("Up ")
