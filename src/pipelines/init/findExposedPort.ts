import { Array, Option } from "effect"
import { interpolate } from "../projects/compose/interpolate.ts"

const instruction = /^(from|arg|env|expose)\s+(\S[^]*)$/i
const pair = /(?<![A-Za-z0-9_])([A-Za-z_][A-Za-z0-9_]*)=(?:"([^"]*)"|'([^']*)'|(\S*))/g

/** The variables that an `ARG` or `ENV` line sets, in either of its forms. */
const assigned = (text: string): ReadonlyArray<readonly [string, string]> => {
  const pairs = [...text.matchAll(pair)].map(([, name = "", double, single, plain]) =>
    [name, double ?? single ?? plain ?? ""] as const
  )
  const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)\s+(\S[^]*)$/.exec(text) ?? []
  return pairs.length > 0 || name === undefined || value === undefined ? pairs : [[name, value]]
}

const portOf = (text: string): Option.Option<number> => {
  const [, first] = /^(\d{1,5})(?:-\d+)?(?:\/tcp)?$/i.exec(text) ?? []
  return Option.filter(Option.fromNullable(first).pipe(Option.map(Number)), (port) => port >= 1 && port <= 65535)
}

/** First TCP port exposed in the last stage of an image build file, else in an earlier stage. */
export const findExposedPort = (imageFile: string): Option.Option<number> => {
  const values = new Map<string, string>()
  const stages: Array<Array<number>> = [[]]
  for (const line of imageFile.replace(/\\[ \t]*\r?\n/g, " ").split(/\r?\n/)) {
    const [, word = "", rest = ""] = instruction.exec(line.trim()) ?? []
    const keyword = word.toLowerCase()
    if (keyword === "from") stages.push([])
    if (keyword === "arg" || keyword === "env") {
      for (const [name, value] of assigned(rest)) values.set(name, interpolate(value, values).text)
    }
    if (keyword === "expose") {
      const ports = interpolate(rest, values).text.split(/\s+/).map(portOf)
      stages.at(-1)?.push(...Array.getSomes(ports))
    }
  }
  return Option.fromNullable(stages.toReversed().flat()[0])
}
