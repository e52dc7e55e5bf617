/** Value that a plan depends on, as JSON, and its description; secrets have none. */
export interface Fact {
  readonly value: unknown
  readonly now?: string
}

/** Facts that were read or decided, by label. */
export type Facts = Readonly<Record<string, Fact>>

/** Labels of one kind of plan, in the order of its hash, with their descriptions. */
export interface FactKinds {
  readonly labels: Readonly<Record<string, string>>
  /** True if a change of the fact is not reported because other changed facts imply it. */
  readonly isImplied: (name: string, moved: ReadonlyArray<string>) => boolean
}
