const unmistakable =
  /secret|passw(?:or)?d|passphrase|token|credential|authori[sz]ation|api_?key|private_?key|cookie|basic_?auth/i
const asWord = /(?:^|_)(?:auth|key|keys|private|pwd|signature)(?:_|$)/i
const onlyNames = /(?:uuid|_id)$/i

/** Splits camelCase, so that one rule reads `privateKey` and `private_key`. */
const inWords = (name: string) => name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_")

/**
 * Recognizes names of fields that hold a credential; a `…_uuid` or `…_id` only names one. Strict: for the few known
 * fields that a caller sends.
 */
export const isCredentialName = (name: string): boolean => unmistakable.test(name) && !onlyNames.test(name)

/** The same, in doubt true: for fields of a foreign record, which its vendor may add any day. */
export const mayBeCredentialName = (name: string): boolean =>
  (unmistakable.test(name) || asWord.test(inWords(name))) && !onlyNames.test(name)
