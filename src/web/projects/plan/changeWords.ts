/** Words and signs for changes of files, images and services. */
export const changeWords = {
  new: ["good", "+", "is new"],
  changed: ["warn", "~", "changes"],
  removed: ["bad", "−", "is removed"],
  same: ["", "=", "stays"],
  create: ["good", "+", "is created"],
  recreate: ["warn", "~", "is made anew"],
  remove: ["bad", "−", "is removed"],
  keep: ["", "=", "runs on"],
  run: ["", ">", "is run"]
} as const
