import { Predicate } from "effect"

/** The key shown is none of those remembered; both as fingerprints. */
export interface OtherKey {
  readonly remembered: string
  readonly presented: string
}

const isOther = (verdict: unknown): verdict is OtherKey => Predicate.isObject(verdict)

/** A refused key, and the file that the remembered keys are in. */
export interface KeyMismatch extends OtherKey {
  readonly file: string
  /** The file marks the key shown as revoked. */
  readonly isRevoked?: boolean
}

/** A verdict on a key, with the file that it comes from. */
export const withKeyFile = (file: string) => <A>(verdict: OtherKey | A): KeyMismatch | A =>
  isOther(verdict) ? { ...verdict, file } : verdict
