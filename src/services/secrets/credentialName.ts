const unmistakable =
  /secret|passw(?:or)?d|passphrase|token|credential|authori[sz]ation|api_?key|private_?key|cookie|basic_?auth/i
const asWord = /(?:^|_)(?:auth|key|keys|private|pwd|signature)(?:_|$)/i
const onlyNames = /(?:uuid|_id)$/i

/** Splits camelCase, so that one rule reads `privateKey` and `private_key`. */
const inWords = (name: string) => name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_")

/**
 * Whether a field of this name holds a credential; a `…_uuid` or `…_id` only names one. Strict: meant for fields that a
 * caller sends, which are few and known.
 */
export const isCredentialName = (name: string): boolean => unmistakable.test(name) && !onlyNames.test(name)

/** The same, in doubt yes: meant for fields of a foreign record, which its vendor may add any day. */
export const mayBeCredentialName = (name: string): boolean =>
  (unmistakable.test(name) || asWord.test(inWords(name))) && !onlyNames.test(name)
