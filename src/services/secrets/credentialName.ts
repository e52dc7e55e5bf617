const unmistakable =
  /secret|passw(?:or)?d|passphrase|token|credential|authori[sz]ation|api_?key|private_?key|cookie|basic_?auth/i
const asWord = /(?:^|_)(?:auth|key|keys|private|pwd|signature)(?:_|$)/i
const onlyNames = /(?:uuid|_id)$/i

/** Splits camelCase, so that one rule matches both `privateKey` and `private_key`. */
const inWords = (name: string) => name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_")

/**
 * Recognizes names of credential fields; a `…_uuid` or `…_id` only refers to one. Strict, for the few known fields that
 * a caller sends.
 */
export const isCredentialName = (name: string): boolean => unmistakable.test(name) && !onlyNames.test(name)

/**
 * Like `isCredentialName`, but true in case of doubt: for fields of a foreign record, which its vendor may extend at
 * any time.
 */
export const mayBeCredentialName = (name: string): boolean =>
  (unmistakable.test(name) || asWord.test(inWords(name))) && !onlyNames.test(name)
