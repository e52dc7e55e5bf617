/** Tone of a state: its colour, never without words. */
export type Tone = "good" | "warn" | "bad" | "busy" | "idle"
