const states =
  "Creat(?:ing|ed)|Recreated?|Start(?:ing|ed)|Stopp(?:ing|ed)|Remov(?:ing|ed)|Pull(?:ing|ed)|Buil(?:ding|t)|" +
  "Running|Waiting|Healthy|Exited|Skipped.*"

/**
 * Lines about progress and warnings, which the run already shows while compose writes them: compose 2 and later, then
 * 1.x.
 */
const remarks = [
  new RegExp(`^ \\S.* (?:${states})$`),
  /^time="[^"]*" level=(?:warning|info|debug) /,
  /^\S+ing \S+ +\.\.\.(?: *(?:done|error))?$/,
  /^(?:Creating|Removing) (?:network|volume) "/,
  /^WARNING: /,
  /^The \S+ variable is not set\. Defaulting to a blank string\.$/,
  /^Encountered errors while bringing up the project\.$/
]

/** Docker-compose 1.x reports a failure for the container and again for its service. */
const forOne = /^ERROR: for \S+ {2}/

/** Extracts the reasons from the output of a failed compose; all of it if there are none. */
export const parseComposeError = (said: string): string => {
  const seen = new Set<string>()
  const reasons = said.split(/\r?\n/)
    .filter((line) => line.trim() !== "" && !remarks.some((remark) => remark.test(line.trimEnd())))
    .flatMap((line) => {
      const reason = line.replace(forOne, "").trimEnd()
      if (reason === line.trimEnd()) return [reason]
      const isNew = !seen.has(reason)
      seen.add(reason)
      return isNew ? [reason] : []
    })
  return reasons.length === 0 ? said.trim() : reasons.join("\n")
}
