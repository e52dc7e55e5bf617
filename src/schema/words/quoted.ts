const longest = 150

/** Shortens a long path or name for a message by cutting out its middle. */
export const cut = (text: string): string =>
  text.length <= longest ? text : `${text.slice(0, longest / 2 - 1)}…${text.slice(-longest / 2)}`

const longestWord = 300

/** Shortens very long words of a message, such as names or paths in user input. */
export const withShortWords = (message: string): string =>
  message.replaceAll(/\S+/g, (word) => word.length > longestWord ? cut(word) : word)

/** Quotes user input for a message: in double quotes, on one line, truncated. */
export const quoteInput = (text: string): string => {
  const whole = JSON.stringify(text.slice(0, longest + 1))
  return whole.length <= longest + 2 ? whole : `${whole.slice(0, longest).replace(/\\[^"\\]*$/, "")}…"`
}

/**
 * Appends a sentence to text that may be foreign, adding a missing full stop. Returns the text unchanged if the
 * sentence is empty.
 */
export const appendSentence = (words: string, sentence: string): string => {
  const end = words.trimEnd()
  return sentence === "" ? words : `${end}${/[.!?]$/.test(end) ? "" : "."} ${sentence}`
}
