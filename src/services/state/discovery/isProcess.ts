/** Reports whether a process of this user has this id; processes of other users cannot be signalled. */
export const isProcess = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
