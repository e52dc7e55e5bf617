/** Tells whether a process of this user runs under an id; those of other users cannot be signalled. */
export const isProcess = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
