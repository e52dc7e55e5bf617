import { Predicate } from "effect"

/** The route that is stored for a server and the one that a connection takes: `directly`, or `through …`. */
export interface RouteChange {
  readonly remembered: string
  readonly now: string
}

/** The presented key is not one of the stored keys, both as fingerprints, or is not stored for the route. */
export interface OtherKey {
  readonly remembered: string
  readonly presented: string
  /** Present when keys of the server are stored for other routes, whatever key it presents on this one. */
  readonly route?: RouteChange
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
