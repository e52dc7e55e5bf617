import { randomBytes } from "node:crypto"

/** A new name for a file that is not yet written whole, beside the one that it will replace. */
export const unfinishedName = (): string => `.berth-${randomBytes(8).toString("hex")}.tmp`

/** Whether a file was not yet written whole: one that has had the name for long is left over. */
export const isUnfinished = (name: string): boolean => /^\.berth-[0-9a-f]{16}\.tmp$/.test(name)
