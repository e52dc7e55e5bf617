/** What becomes of a file, an image or a service, in words and as a sign. */
export const changeWords = {
  new: ["good", "+", "is new"],
  changed: ["warn", "~", "changes"],
  removed: ["bad", "−", "is removed"],
  same: ["", "=", "stays"],
  create: ["good", "+", "is created"],
  recreate: ["warn", "~", "is made anew"],
  remove: ["bad", "−", "is removed"],
  keep: ["", "=", "runs on"]
} as const
