const longest = 150

/** What a user sent, in double quotes and on one line, cut where it gets long: what a message shows of it. */
export const quoted = (text: string): string => {
  const whole = JSON.stringify(text.slice(0, longest + 1))
  return whole.length <= longest + 2 ? whole : `${whole.slice(0, longest).replace(/\\[^"\\]*$/, "")}…"`
}
