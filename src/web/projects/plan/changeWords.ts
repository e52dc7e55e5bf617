/** Words and signs for changes of files, images, services and secrets. */
export const changeWords = {
  new: ["good", "+", "is new"],
  changed: ["warn", "~", "changes"],
  removed: ["bad", "−", "is removed"],
  same: ["", "=", "stays"],
  create: ["good", "+", "is created"],
  recreate: ["warn", "~", "is made anew"],
  remove: ["bad", "−", "is removed"],
  gone: ["bad", "−", "is removed"],
  unknown: ["", "?", "is resolved by a deploy"],
  keep: ["", "=", "runs on"],
  run: ["", ">", "is run"],
  follow: ["", ">", "is followed"]
} as const
