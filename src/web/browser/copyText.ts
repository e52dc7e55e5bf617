/** The clipboard of a page without https is reached by a selection. Behind a modal dialog nothing can be selected. */
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

/** Copies a text; false where the browser lets neither way. */
export const copyText = (text: string): Promise<boolean> =>
  navigator.clipboard === undefined
    ? Promise.resolve(copyBySelection(text))
    : navigator.clipboard.writeText(text).then(() => true, () => copyBySelection(text))
