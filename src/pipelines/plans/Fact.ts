/** One thing that was read or decided, as JSON, and how it is now in words; no words for a secret. */
export interface Fact {
  readonly value: unknown
  readonly now?: string
}

/** What was read and decided, by the names of its labels. */
export type Facts = Readonly<Record<string, Fact>>

/** What the plans of one kind are made from, in the order of their hash, with what to call it. */
export interface FactKinds {
  readonly labels: Readonly<Record<string, string>>
  /** Whether a fact that moved is not worth a word beside the others that did. */
  readonly isImplied: (name: string, moved: ReadonlyArray<string>) => boolean
}
