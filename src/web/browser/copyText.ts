/**
 * Copies by a selection, since a page without https has no clipboard. Selects within an open modal dialog: nothing
 * behind it can be selected.
 */
const copyBySelection = (text: string): boolean => {
  const field = document.createElement("textarea")
  field.value = text
  const place = document.querySelector("dialog[open]") ?? document.body
  place.append(field)
  field.select()
  const done = document.execCommand("copy")
  field.remove()
  return done
}

/** Copies a text; false if the browser allows neither way. */
export const copyText = (text: string): Promise<boolean> =>
  navigator.clipboard === undefined
    ? Promise.resolve(copyBySelection(text))
    : navigator.clipboard.writeText(text).then(() => true, () => copyBySelection(text))
