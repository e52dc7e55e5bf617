const units: ReadonlyMap<string, number> = new Map([
  ["B", 1],
  ...["k", "M", "G", "T", "P"].flatMap((prefix, index): ReadonlyArray<readonly [string, number]> => [
    [`${prefix}B`, 1000 ** (index + 1)],
    [`${prefix.toUpperCase()}iB`, 1024 ** (index + 1)]
  ])
])

/** Parses a size in Docker's format, `1.5MiB` or `12kB`, to bytes; 0 for anything else. */
const bytesOf = (text: string): number => {
  const [, number = "", unit = ""] = /^(\d{1,15}(?:\.\d{1,9})?)([A-Za-z]{1,3})$/.exec(text.trim()) ?? []
  return Math.round(Number(number) * (units.get(unit) ?? 0))
}

/** Parses two sizes in Docker's format, `1.5MiB / 2GiB`, to bytes. */
export const parseSizePair = (text: string): readonly [number, number] => {
  const [one = "", other = ""] = text.split(" / ")
  return [bytesOf(one), bytesOf(other)]
}

/** Parses a number in Docker's format, with or without `%`; 0 for anything else. */
export const parseFigure = (text: string): number => {
  const number = Number(text.replace("%", ""))
  return Number.isFinite(number) ? number : 0
}
