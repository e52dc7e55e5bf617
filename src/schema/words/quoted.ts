const longest = 150

/** A path or name that a message shows as it is, with its middle cut out where it gets long. */
export const cut = (text: string): string =>
  text.length <= longest ? text : `${text.slice(0, longest / 2 - 1)}…${text.slice(-longest / 2)}`

const longestWord = 300

/** A message in which what is one very long word, somebody's name or path, is cut. */
export const withShortWords = (message: string): string =>
  message.replaceAll(/\S+/g, (word) => word.length > longestWord ? cut(word) : word)

/** Quotes user input for a message: in double quotes, on one line, truncated. */
export const quoteInput = (text: string): string => {
  const whole = JSON.stringify(text.slice(0, longest + 1))
  return whole.length <= longest + 2 ? whole : `${whole.slice(0, longest).replace(/\\[^"\\]*$/, "")}…"`
}

/** Words that are perhaps somebody else's, and a sentence after them; nothing is added where that is empty. */
export const appendSentence = (words: string, sentence: string): string => {
  const end = words.trimEnd()
  return sentence === "" ? words : `${end}${/[.!?]$/.test(end) ? "" : "."} ${sentence}`
}
