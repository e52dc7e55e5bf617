import { Predicate } from "effect"

/** The presented key is not one of the stored keys; both as fingerprints. */
export interface OtherKey {
  readonly remembered: string
  readonly presented: string
}

const isOther = (verdict: unknown): verdict is OtherKey => Predicate.isObject(verdict)

/** A refused key, and the file of the stored keys. */
export interface KeyMismatch extends OtherKey {
  readonly file: string
  /** True when the file marks the presented key as revoked. */
  readonly isRevoked?: boolean
}

/** Adds the file of the stored keys to a mismatch. */
export const withKeyFile = (file: string) => <A>(verdict: OtherKey | A): KeyMismatch | A =>
  isOther(verdict) ? { ...verdict, file } : verdict
