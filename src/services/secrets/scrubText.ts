import { Redacted } from "effect"
import { listSecretForms, shortestForm } from "./listSecretForms.ts"

/** Forms with the same prefix, grouped by length, the longest first. */
type FormsByLength = ReadonlyArray<readonly [length: number, forms: ReadonlySet<string>]>
type Forms = ReadonlyMap<string, FormsByLength>

const startOf = (form: string) => form.slice(0, shortestForm)

const formsOf = (secrets: ReadonlyArray<Redacted.Redacted>): Forms => {
  const byStart = new Map<string, Map<number, Set<string>>>()
  for (const secret of new Set(secrets.map(Redacted.value))) {
    if (secret.length < shortestForm) continue
    for (const form of listSecretForms(secret)) {
      if (form.length < shortestForm) continue
      const start = startOf(form)
      const lengths = byStart.get(start) ?? new Map<number, Set<string>>()
      lengths.set(form.length, (lengths.get(form.length) ?? new Set()).add(form))
      byStart.set(start, lengths)
    }
  }
  return new Map([...byStart].map(([start, lengths]) => [start, [...lengths].sort(([a], [b]) => b - a)]))
}

// Cached by list: the secrets in use are the same object until the settings change.
const known = new WeakMap<ReadonlyArray<Redacted.Redacted>, Forms>()
const knownFormsOf = (secrets: ReadonlyArray<Redacted.Redacted>): Forms => {
  const forms = known.get(secrets) ?? formsOf(secrets)
  known.set(secrets, forms)
  return forms
}

/** Length of the secret at `at`, or 0. */
const lengthAt = (text: string, at: number, forms: Forms): number => {
  const found = forms.get(text.slice(at, at + shortestForm))?.find(([length, all]) =>
    all.has(text.slice(at, at + length))
  )
  return found === undefined ? 0 : found[0]
}

/** Length of the end of a truncated secret at the start of a text. */
const cutLength = (text: string, forms: Forms): number => {
  let longest = 0
  for (const lengths of forms.values()) {
    for (const [length, all] of lengths) {
      for (const form of all) {
        for (let left = length - 1; left > longest; left--) {
          if (text.startsWith(form.slice(-left))) longest = left
        }
      }
    }
  }
  return longest >= shortestForm ? longest : 0
}

/**
 * Replaces every occurrence of a secret, in any of its forms, with `***`. The cost depends on the length of the text
 * alone, not on the number of secrets.
 * Scrub before truncating: half a secret cannot be recognized.
 * @param options.cut true if the beginning of the text is missing, so that it may start within a secret
 */
export const scrubText = (
  text: string,
  secrets: ReadonlyArray<Redacted.Redacted>,
  { cut = false }: { readonly cut?: boolean } = {}
): string => {
  const forms = knownFormsOf(secrets)
  if (forms.size === 0) return text
  let end = cut ? cutLength(text, forms) : 0
  let shown = end > 0 ? "***" : ""
  for (let at = 0; at + shortestForm <= text.length; at++) {
    const length = lengthAt(text, at, forms)
    if (length === 0) continue
    // Overlapping secrets are replaced with a single mask.
    if (at >= end) shown += `${text.slice(end, at)}***`
    end = Math.max(end, at + length)
  }
  return shown + text.slice(end)
}
