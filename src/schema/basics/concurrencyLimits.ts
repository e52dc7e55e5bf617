import { Schema } from "effect"

/** Limit of concurrent use, per caller and in total; more are refused with 429. */
export interface ConcurrencyLimit {
  readonly each: number
  readonly all: number
}

/** The event streams that a service serves: watchers of runs, and followers of logs. */
export const streamLimit: ConcurrencyLimit = { each: 100, all: 400 }

/** Unfinished runs of a process: in progress or queued. */
export const runLimit: ConcurrencyLimit = { each: 100, all: 400 }

/** Followed logs on one server; commands in its containers have as many places of their own. One caller gets half. */
export const followerLimit: ConcurrencyLimit = { each: 8, all: 16 }

const fields = {
  /** Limit that was reached. */
  most: Schema.Number,
  /** Caller that has reached its limit; absent if the limit is that of all callers. */
  caller: Schema.optional(Schema.String)
}

/** The maximum number of event streams is open. */
export class TooManyStreams extends Schema.TaggedError<TooManyStreams>()("TooManyStreams", fields) {
  readonly status = 429
  /** Seconds. */
  readonly retryAfter = 10
  override get message() {
    const whose = this.caller === undefined ? "all callers together have" : `"${this.caller}" has`
    return `Too many watchers: ${whose} ${this.most} runs and logs open already, which is as many as can be watched at ` +
      "a time. Stop watching some of them, or ask for the run or the logs as they are"
  }
}

/** The maximum number of runs is unfinished. */
export class TooManyRuns extends Schema.TaggedError<TooManyRuns>()("TooManyRuns", fields) {
  readonly status = 429
  /** Seconds. */
  readonly retryAfter = 30
  override get message() {
    const whose = this.caller === undefined ? "of all callers together" : `of "${this.caller}"`
    return `Too many runs: ${this.most} ${whose} wait or are under way, which is as many as there can be. Nothing was ` +
      "started: wait until some of them have ended, or cancel those that are no longer wanted"
  }
}
