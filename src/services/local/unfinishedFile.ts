import { randomBytes } from "node:crypto"

/** Makes a temporary name for an atomic write, beside the file to replace. */
export const makeUnfinishedName = (): string => `.berth-${randomBytes(8).toString("hex")}.tmp`

/** Recognizes temporary files of atomic writes; old ones were left by a crash. */
export const isUnfinished = (name: string): boolean => /^\.berth-[0-9a-f]{16}\.tmp$/.test(name)
