import { loadavg } from "node:os"

/** The middle of some numbers. */
export const median = (numbers: ReadonlyArray<number>): number => {
  const sorted = [...numbers].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

export const seconds = (millis: number): string => `${(millis / 1000).toFixed(millis < 10_000 ? 2 : 1)} s`
export const millis = (value: number): string => value < 1_000 ? `${Math.round(value)} ms` : seconds(value)
export const ratio = (value: number): string => value.toFixed(value < 0.1 ? 3 : 2)
export const megabytes = (bytes: number): string =>
  bytes < 100_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 2 : 0)} MB`

/** Load of the machine in the last minute, the benchmark included. */
export const load = (): string => `The load of the machine was ${(loadavg()[0] ?? 0).toFixed(1)}.`

/** A number of the environment, such as `BENCH_ROUNDS=7`. */
export const setting = (name: string, otherwise: number): number => {
  const value = Number(process.env[name] ?? otherwise)
  if (!Number.isFinite(value) || value < 0) throw new Error(`${name} has to be a number`)
  return value
}
